=== times of commits
create table {t} (id int, name string, price double, ts bigint) using hudi {std};
insert into {t} values (1, 'a1', 10, 1000);
update {t} set name = 'a2', price = 20, ts = 2000;
select id, name, price, ts from {t};
    1|a2|20.0|2000
select id, name, price, ts from {t} timestamp as of '{commit1}';
    1|a1|10.0|1000
select id, name from {t} timestamp as of '{commit2}';
    1|a2
select t.name, o.name from {t} t join {t} timestamp as of '{commit1}' o on t.id = o.id;
    a1

=== updates and deletes are not seen before
create table {t} (id int, name string, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} values (1, 'a', 1, 'x'), (2, 'b', 1, 'y');
update {t} set name = 'u' where id = 1;
delete from {t} where id = 2;
select id, name, dt from {t} order by id;
    1|u|x
select id, name, dt from {t} timestamp as of '{commit1}' order by id;
    1|a|x
    2|b|y
select id, name, dt from {t} timestamp as of '{commit2}' order by id;
    1|u|x
    2|b|y
select id, name, dt from {t} timestamp as of '{commit3}' order by id;
    1|u|x
select count(*) from {t} timestamp as of '{commit1}' where dt = 'y';
    1

=== an overwrite is not seen before
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1), (2, 'b', 1);
insert overwrite {t} values (3, 'c', 1);
select id from {t};
    3
select id from {t} timestamp as of '{commit1}' order by id;
    1
    2

=== a table of an older state
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
update {t} set name = 'b';
create table {s} using hudi tblproperties (primaryKey = 'id') as select id, name from {t} timestamp as of '{commit1}';
select id, name from {s};
    1|a
insert into {t} select id + 1, name, ts from {t} timestamp as of '{commit1}';
select id, name, ts from {t} order by id;
    1|b|1
    2|a|1

=== changes after a commit
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1), (2, 'b', 1);
update {t} set name = 'u' where id = 2;
insert into {t} values (3, 'c', 1);
select id, name, ts from hudi_table_changes('{t}', 'latest_state', 'earliest') order by id;
    1|a|1
    2|u|1
    3|c|1
select id, name, ts from hudi_table_changes('{t}', 'latest_state', '{done1}') order by id;
    2|u|1
    3|c|1
select id, name, ts from hudi_table_changes('{t}', 'latest_state', '{done1}', '{done2}') order by id;
    2|u|1
select id, name, ts from hudi_table_changes('{t}', 'latest_state', 'earliest', '{done1}') order by id;
    1|a|1
    2|b|1

=== a version
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
select id, name from {t} version as of '{commit1}';!hudi
    1|a
-- differs: Hudi has no VERSION AS OF; here it takes an instant

=== before the first commit
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
select id from {t} timestamp as of '2000-01-01';!ours
  h
-- differs: a time before the first commit is an error here; Hudi gives no rows
