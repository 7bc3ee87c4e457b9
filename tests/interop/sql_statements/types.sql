=== whole numbers into decimals and doubles
create table {t} (id int, c decimal(10, 2), d double, l bigint, f float) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, 7, 7, 7, 7);
insert into {t} select 2, 1.5, 1.5, 8, 1.5;
select id, c, d, l, f from {t} order by id;
    1|7.00|7.0|7|7.0
    2|1.50|1.5|8|1.5

=== text into numbers
create table {t} (id int, n int) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, '5');!
select count(*) from {t};
    0

=== numbers that are too large
create table {t} (id int, n int, c decimal(4, 2)) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, 3000000000, 1);!
insert into {t} values (1, 1, 100);!
select count(*) from {t};
    0

=== dates into times and back
create table {t} (id int, d date, at timestamp) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, timestamp '2024-01-02 03:04:05', date '2024-01-02');
select id, d, at from {t};
    1|2024-01-02|2024-01-02 00:00:00

=== casts in a query
create table {t} (id int, s string) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, '12'), (2, ' 7 '), (3, '1.9');
select id, cast(s as double) from {t} order by id;
    1|12.0
    2|7.0
    3|1.9
select cast(1.9D as int), cast(-1.9D as int), cast('2024-01-02' as date), cast(true as int), cast(2 as boolean) from {t} where id = 1;
    1|-1|2024-01-02|1|true
select cast(s as int) from {t} where id = 2;
    7

=== division, remainder, rounding
create table {t} (id int, a int, b int, c decimal(10, 2)) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, 7, 2, 2.50), (2, -7, 2, -2.50);
select id, a / b, a % b, a div b, round(c), round(a / 2) from {t} order by id;
    1|3.5|1|3|3|4.0
    2|-3.5|-1|-3|-3|-4.0
select id, floor(c), ceil(c), abs(a) from {t} order by id;
    1|2|3|7
    2|-3|-2|7
select sum(a), avg(a), min(c), max(c), count(distinct b) from {t};
    0|0.0|-2.50|2.50|1

=== comparisons of null
create table {t} (id int, n int) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, 1), (2, null), (3, 3);
select id from {t} where n <=> null;
    2
select id from {t} where n not in (1, 2) order by id;
    3
select id from {t} where n not in (1, null);
select id, n from {t} order by n, id;
    2|NULL
    1|1
    3|3
select id, n from {t} order by n desc, id;
    3|3
    1|1
    2|NULL
select sum(n), avg(n), count(n) from {t} where n is null;
    NULL|NULL|0

=== windows and groups
create table {t} (id int, k string, n int) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, 'a', 10), (2, 'a', 20), (3, 'b', 5), (4, null, 1);
select k, sum(n), count(*) from {t} group by k order by k;
    NULL|1|1
    a|30|2
    b|5|1
select id, row_number() over (partition by k order by n desc) r from {t} order by id;
    1|2
    2|1
    3|1
    4|1
select k from {t} group by k having count(*) > 1;
    a
select id, lag(n) over (order by id) from {t} order by id;
    1|NULL
    2|10
    3|20
    4|5
