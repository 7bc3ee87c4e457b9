=== by key, and all
create table {t} (id int, name string, price double, ts bigint) using hudi {std};
insert into {t} select 1, 'a1', 10, 1000;
delete from {t} where id = 1;
select count(*) from {t};
    0
insert into {t} select 2, 'a2', 10, 1000;
delete from {t} where id = 1;
select id, name, price, ts from {t};
    2|a2|10.0|1000
delete from {t};
select count(*) from {t};
    0

=== by columns that are no keys
create table {t} (id int, name string, price double, ts bigint, pt string) using hudi {std} partitioned by (pt);
insert into {t} values (1, 'a1', 10.0, 1000, '2021'), (2, 'a2', 20.0, 1000, '2021'), (3, 'a2', 30.0, 1000, '2022');
delete from {t} where name = 'a2';
select id, name, price, ts, pt from {t} order by id;
    1|a1|10.0|1000|2021
insert into {t} values (2, 'a2', 20.0, 1000, '2021'), (3, 'a2', 30.0, 1000, '2022');
delete from {t} where pt = '2021';
select id, name, price, ts, pt from {t} order by id;
    3|a2|30.0|1000|2022

=== large and small letters
create table {t} (ID int, NAME string, TS bigint) using hudi options (type = '{kind}', primaryKey = 'ID', preCombineField = 'TS');
insert into {t} values (1, 'a', 1), (2, 'b', 1);
delete from {t} where Id = 1 and NAME = 'a';
select id, name, ts from {t};
    2|b|1

=== nulls are not deleted by comparisons
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1), (2, null, 1), (3, 'c', 1);
delete from {t} where name <> 'a';
select id, name, ts from {t} order by id;
    1|a|1
    2|NULL|1
delete from {t} where name is null;
select id, name, ts from {t} order by id;
    1|a|1

=== by a subquery
create table {t} (id int, name string, ts bigint) using hudi {std};
create table {s} (id int) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, 'a', 1), (2, 'b', 1), (3, 'c', 1);
insert into {s} values (1), (3);
delete from {t} where id in (select id from {s});
select id, name, ts from {t} order by id;
    2|b|1

=== the same key in several partitions
create table {t} (id int, name string, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} values (1, 'a', 1, 'x'), (1, 'b', 1, 'y');
delete from {t} where dt = 'x';
select id, name, ts, dt from {t};
    1|b|1|y
update {t} set name = 'c';
select id, name, ts, dt from {t};
    1|c|1|y

=== truncate
create table {t} (id int, name string, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} values (1, 'a', 1, 'x'), (2, 'b', 1, 'y');
truncate table {t};
select count(*) from {t};
    0
insert into {t} values (3, 'c', 1, 'x');
select id, name, ts, dt from {t};
    3|c|1|x

=== by an alias and a function
create table {t} (id int, name string, d date, ts bigint) using hudi {std};
insert into {t} values (1, 'a', date '2024-01-31', 1), (2, 'b', date '2023-12-31', 1);
delete from {t} as x where year(x.d) = 2023;
select id, name, d, ts from {t};
    1|a|2024-01-31|1

=== a condition of a column that is not there
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
delete from {t} where nope = 1;!
select id, name, ts from {t};
    1|a|1
