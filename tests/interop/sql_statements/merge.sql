=== clauses with conditions
create table {t} (id int, name string, price double, ts bigint, dt string) using hudi {std} partitioned by (dt);
merge into {t} as t0 using (select 1 as id, 'a1' as name, 10 as price, 1000L as ts, '2021-03-21' as dt) as s0 on t0.id = s0.id when not matched and s0.id % 2 = 1 then insert *;
select id, name, price, dt from {t};
    1|a1|10.0|2021-03-21
merge into {t} as t0 using (select 2 as id, 'a2' as name, 10 as price, 1000L as ts, '2021-03-21' as dt) as s0 on t0.id = s0.id when not matched and s0.id % 2 = 1 then insert *;
select id, name, price, dt from {t};
    1|a1|10.0|2021-03-21
merge into {t} as t0 using (select 1 as id, 'a1' as name, 11 as price, 1000L as ts, '2021-03-21' as dt) as s0 on t0.id = s0.id when matched and s0.id % 2 = 0 then update set * when matched and s0.id % 3 = 2 then delete when not matched then insert *;
select id, name, price, dt from {t};
    1|a1|10.0|2021-03-21
merge into {t} as t0 using (select 1 as id, 'a1' as name, 11 as price, 1000L as ts, '2021-03-21' as dt) as s0 on t0.id = s0.id when matched and s0.id % 2 = 1 then update set id = s0.id, name = s0.name, price = s0.price * 2, ts = s0.ts, dt = s0.dt when not matched then insert (id, name, price, ts, dt) values (s0.id, s0.name, s0.price, s0.ts, s0.dt);
select id, name, price, dt from {t};
    1|a1|22.0|2021-03-21
merge into {t} as t0 using (select 1 as id, 'a1' as name, 11 as price, 1000L as ts, '2021-03-21' as dt) as s0 on t0.id = s0.id when matched and s0.id % 2 = 0 then update set id = s0.id, name = s0.name, price = s0.price * 2, ts = s0.ts, dt = s0.dt when matched and s0.id % 2 = 1 then delete when not matched then insert (id, name, price, ts, dt) values (s0.id, s0.name, s0.price, s0.ts, s0.dt);
select count(1) from {t};
    0

=== a table of a query
create table {t} using hudi tblproperties (type = '{kind}', primaryKey = 'id') as select 1 as id, 'a1' as name;
merge into {t} h0 using (select 1 as id, 'a1_1' as name) s0 on h0.id = s0.id when matched then update set *;
select id, name from {t};
    1|a1_1

=== nested values
create table {t} (id int, name string, s_value struct<f0: int, f1: string>, a_value array<string>, m_value map<string, string>, ts bigint) using hudi {std};
merge into {t} h0 using (select 1 as id, 'a1' as name, struct(1, '10') as s_value, split('a0,a1', ',') as a_value, map('k0', 'v0') as m_value, 1000L as ts) s0 on h0.id = s0.id when not matched then insert *;
select id, name, s_value.f0, s_value.f1, a_value[1], size(a_value), m_value['k0'], ts from {t};
    1|a1|1|10|a1|2|v0|1000
merge into {t} h0 using (select 1 as id, 'a1' as name, struct(1, '12') as s_value, split('a0,a1,a2', ',') as a_value, map('k1', 'v1') as m_value, 1000L as ts) s0 on h0.id = s0.id when matched then update set * when not matched then insert *;
select id, s_value.f1, a_value[2], m_value['k1'], m_value['k0'] from {t};
    1|12|a2|v1|NULL

=== stars go by names though the order is another
create table {t} (id int, name string, price double, ts bigint, dt string) using hudi {std};
merge into {t} t using (select 'x' as dt, 7L as ts, 2.5D as price, 'n' as name, 1 as id) s on t.id = s.id when matched then update set * when not matched then insert *;
select id, name, price, ts, dt from {t};
    1|n|2.5|7|x
merge into {t} t using (select 'y' as dt, 8L as ts, 3.5D as price, 'm' as name, 1 as id) s on t.id = s.id when matched then update set * when not matched then insert *;
select id, name, price, ts, dt from {t};
    1|m|3.5|8|y

=== large and small letters are the same
create table {t} (ID int, name string, price double, TS bigint, DT string) using hudi options (type = '{kind}', primaryKey = 'ID', preCombineField = 'TS');
merge into {t} using (select 1 as id, 'a1' as name, 10 as PRICE, 1000L as ts, '2021-05-05' as dt, '1' as flag) s0 on s0.id = {t}.id when matched and flag = '1' then update set id = s0.id, name = s0.name, PRICE = s0.price, ts = s0.ts, dt = s0.dt when not matched and flag = '1' then insert *;
select id, name, price, ts, dt from {t};
    1|a1|10.0|1000|2021-05-05
merge into {t} using (select 1 as id, 'a1' as name, 20 as PRICE, 1001L as ts, '2021-05-05' as dt) s0 on s0.id = {t}.id when matched then update set id = s0.id, name = s0.name, PRICE = s0.price, ts = s0.ts, dt = s0.dt when not matched then insert *;
select id, name, price, ts, dt from {t};
    1|a1|20.0|1001|2021-05-05
merge into {t} as t0 using (select 1 as id, 'a1' as name, 111 as PRICE, 1111L as ts, '2021-05-05' as dt union all select 2, 'a2', 112, 1112, '2021-05-05') as s0 on t0.id = s0.id when matched then update set * when not matched then insert *;
select Id, NAME, price, Ts, dt from {t} order by iD;
    1|a1|111.0|1111|2021-05-05
    2|a2|112.0|1112|2021-05-05

=== letters of source and target differ
create table {t} (id int, name string, price double, ts bigint) using hudi {std};
merge into {t} using (select 1 as ID, 'a1' as NAME, 10 as PRICE, 1000L as TS, '1' as FLAG) s0 on s0.ID = {t}.id when matched and FLAG = '1' then update set * when not matched and FLAG = '1' then insert *;
select id, name, price, ts from {t};
    1|a1|10.0|1000
merge into {t} using (select 1 as ID, 'a1' as NAME, 11 as PRICE, 1001L as TS, '1' as FLAG) s0 on s0.id = {t}.id when matched and FLAG = '1' then update set id = s0.id, name = s0.NAME, price = s0.PRICE, ts = s0.ts when not matched and FLAG = '1' then insert *;
select id, name, price, ts from {t};
    1|a1|11.0|1001
merge into {t} using (select 2 as ID, 'a2' as NAME, 12 as PRICE, 1002L as TS, '1' as FLAG) s0 on cast(s0.id as int) = {t}.id when matched and FLAG = '1' then update set id = s0.id, name = s0.NAME, price = s0.PRICE, ts = s0.ts when not matched and FLAG = '1' then insert *;
select id, name, price, ts from {t} order by id;
    1|a1|11.0|1001
    2|a2|12.0|1002

=== inserts only, of rows that are partly there
create table {t} (id int, name string, price double, ts bigint, dt string) using hudi {std};
insert into {t} select 1, 'a1', 1, 10, '2022-08-18';
merge into {t} as t0 using (select 1 as id, 'a1' as name, 11 as price, 110L as ts, '2022-08-19' as dt union all select 2, 'a2', 10, 100, '2022-08-18') as s0 on t0.id = s0.id when not matched then insert *;
select id, name, price, ts, dt from {t} order by id;
    1|a1|1.0|10|2022-08-18
    2|a2|10.0|100|2022-08-18

=== a text is stored in a column of doubles
create table {t} (id int, name string, price double, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} select 1, 'a1', cast(10.0 as double), 999, '2021-03-21';
merge into {t} as t0 using (select 'a1' as name, 1 as id, '10.1' as price, 1000L as ts, '2021-03-21' as dt) as s0 on t0.id = s0.id when matched then update set t0.price = s0.price, t0.ts = s0.ts when not matched then insert *;
select id, name, price, dt from {t};
    1|a1|10.1|2021-03-21

=== an older row of the source does not win
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 10), (2, 'b', 10);
merge into {t} t using (select 1 id, 'old' name, 5L ts union all select 2, 'same', 10L) s on t.id = s.id when matched then update set *;
select id, name, ts from {t} order by id;
    1|a|10
    2|same|10
merge into {t} t using (select 1 id, 'new' name, 11L ts) s on t.id = s.id when matched then update set name = s.name, ts = s.ts;
select id, name, ts from {t} order by id;
    1|new|11
    2|same|10

=== without ordering the last row wins
create table {t} (id int, name string, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, 'a', 10), (2, 'b', 10);
merge into {t} t using (select 1 id, 'old' name, 5L ts) s on t.id = s.id when matched then update set *;
select id, name, ts from {t} order by id;
    1|old|5
    2|b|10

=== a row of which only some columns are inserted
create table {t} (id int, name string, price double, ts bigint, dt string) using hudi {std} partitioned by (dt);
merge into {t} t using (select 1 id, 'x' dt, 3L ts) s on t.id = s.id when not matched then insert (id, ts, dt) values (s.id, s.ts, s.dt);
select id, name, price, ts, dt from {t};
    1|NULL|NULL|3|x

=== rows of a table are merged into another
create table {t} (id int, name string, price double, ts bigint, dt string) using hudi {std} partitioned by (dt);
create table {s} (id int, name string, price double, ts bigint, dt string) using hudi tblproperties (type = '{kind}', primaryKey = 'id', preCombineField = 'ts') partitioned by (dt);
insert into {s} values (1, 'a1', 10, 1000, '2021-03-21'), (2, 'a2', 20, 1000, '2021-03-22');
merge into {t} t using {s} s on t.id = s.id when not matched then insert *;
select id, name, price, ts, dt from {t} order by id;
    1|a1|10.0|1000|2021-03-21
    2|a2|20.0|1000|2021-03-22
update {s} set price = price + 1, ts = 1001 where id = 2;
merge into {t} t using (select * from {s} where dt = '2021-03-22') s on t.id = s.id when matched then update set * when not matched then insert *;
select id, name, price, ts, dt from {t} order by id;
    1|a1|10.0|1000|2021-03-21
    2|a2|21.0|1001|2021-03-22
merge into {t} t using {s} s on t.id = s.id and t.dt = s.dt when matched and s.id = 2 then delete;
select id, name, price, ts, dt from {t} order by id;
    1|a1|10.0|1000|2021-03-21

=== a key of an expression
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (2, 'b', 1);
merge into {t} t using (select 1 id, 'n' name, 5L ts) s on t.id = s.id + 1 when matched then update set name = s.name, ts = s.ts;!hudi
-- differs: Hudi wants the key column of the source as it is, or cast, beside the key of the table; here any condition is taken

=== decimals and casts in a merge
create table {t} (id int, price decimal(10, 2), big decimal(30, 10), ts bigint) using hudi {std};
merge into {t} t using (select 1 id, 1.25 price, 123456789012345678.0123456789 big, 1L ts) s on t.id = s.id when not matched then insert *;
select id, price, big, ts from {t};
    1|1.25|123456789012345678.0123456789|1
merge into {t} t using (select 1 id, 7 price, 2 big, 2L ts) s on t.id = s.id when matched then update set *;
select id, price, big, ts from {t};
    1|7.00|2.0000000000|2
merge into {t} t using (select 1 id, 100 p, 3L ts) s on t.id = s.id when matched then update set price = s.p / 3, ts = s.ts;
select id, price, ts from {t};
    1|33.33|3

=== dates and times
create table {t} (id int, d date, at timestamp, ts bigint) using hudi {std};
merge into {t} t using (select 1 id, date '2024-02-29' d, timestamp '2024-02-29 23:59:59.123456' at, 1L ts) s on t.id = s.id when not matched then insert *;
select id, d, at, ts from {t};
    1|2024-02-29|2024-02-29 23:59:59.123456|1
merge into {t} t using (select 1 id, date '2024-03-01' d, 2L ts) s on t.id = s.id when matched then update set d = s.d, at = null, ts = s.ts;
select id, d, at, ts from {t};
    1|2024-03-01|NULL|2

=== ordering by a time
create table {t} (id int, name string, ts timestamp) using hudi {std};
insert into {t} values (1, 'a', timestamp '2024-01-01 00:00:00.000002');
merge into {t} t using (select 1 id, 'old' name, timestamp '2024-01-01 00:00:00.000001' ts) s on t.id = s.id when matched then update set *;
select id, name, ts from {t};
    1|a|2024-01-01 00:00:00.000002
merge into {t} t using (select 1 id, 'new' name, timestamp '2024-01-01 00:00:00.000003' ts) s on t.id = s.id when matched then update set *;
select id, name, ts from {t};
    1|new|2024-01-01 00:00:00.000003

=== ordering by a date, and by text
create table {t} (id int, name string, ts date) using hudi {std};
insert into {t} values (1, 'a', date '2024-01-02');
merge into {t} t using (select 1 id, 'old' name, date '2024-01-01' ts) s on t.id = s.id when matched then update set *;
merge into {t} t using (select 2 id, 'two' name, date '2024-01-01' ts) s on t.id = s.id when not matched then insert *;
select id, name, ts from {t} order by id;
    1|a|2024-01-02
    2|two|2024-01-01
create table {s} (id int, name string, ts string) using hudi {std};
insert into {s} values (1, 'a', '9');
merge into {s} t using (select 1 id, 'old' name, '10' ts) s on t.id = s.id when matched then update set *;
select id, name, ts from {s};
    1|a|9

=== several rows of the source for a row of the table
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
merge into {t} t using (select 1 id, 'x' name, 3L ts union all select 1, 'y', 2L) s on t.id = s.id when matched then update set *;!ours
-- differs: Hudi takes the row with the largest ordering value and drops the others; here nothing is written, and the key is named

=== several new rows of the source with one key
create table {t} (id int, name string, ts bigint) using hudi {std};
merge into {t} t using (select 1 id, 'x' name, 3L ts union all select 1, 'y', 2L) s on t.id = s.id when not matched then insert *;!ours
-- differs: Hudi takes the row with the largest ordering value and drops the others; here nothing is written, and the key is named

=== a merge of no rows
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
merge into {t} t using (select 1 id, 'x' name, 3L ts where false) s on t.id = s.id when matched then update set * when not matched then insert *;
select id, name, ts from {t};
    1|a|1

=== the key set to another value
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
merge into {t} t using (select 1 id, 'x' name, 3L ts) s on t.id = s.id when matched then update set id = s.id + 1, name = s.name, ts = s.ts;!ours
-- differs: Hudi gives the row another key; here a row keeps its key, as in an UPDATE, and a new one is inserted beside a DELETE

=== a row of the source that names another partition
create table {t} (id int, name string, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} values (1, 'a', 1, 'x');
merge into {t} t using (select 1 id, 'b' name, 2L ts, 'y' dt) s on t.id = s.id when matched then update set *;!ours
-- differs: Hudi writes nothing and says nothing; here the row's partition is named as part of the keys, which a row keeps

=== names that need quotes
create table {t} (id int, `order` string, `group` int, ts bigint) using hudi {std};
merge into {t} t using (select 1 id, 'o' `order`, 2 `group`, 1L ts) s on t.id = s.id when not matched then insert *;
update {t} set `order` = concat(`order`, '!'), `group` = `group` + 1 where `group` = 2;
select id, `order`, `group`, ts from {t};
    1|o!|3|1

=== a common table expression inside the source
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
merge into {t} t using (with c as (select 1 id, 'c' name, 2L ts) select * from c) s on t.id = s.id when matched then update set *;
select id, name, ts from {t};
    1|c|2

=== the ordering field has another type in the source
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
merge into {t} t using (select 1 id, 'b' name, 2 ts) s on t.id = s.id when matched then update set *;!hudi
-- differs: Hudi wants the ordering field of the source in the type of the table; here a smaller type is widened

=== the ordering field is not set
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
merge into {t} t using (select 1 id, 'b' name) s on t.id = s.id when matched then update set name = s.name;!hudi
-- differs: Hudi wants the ordering field among what is set; here the row keeps its own

=== a null in the key of the source
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
merge into {t} t using (select cast(null as int) id, 'n' name, 12L ts) s on t.id = s.id when matched then update set *;!hudi
-- differs: Hudi fails on a null in the key of the source, though it is no row's equal and nothing is to be done

=== keys are not set though they are named
create table {t} (id int, name string, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} values (1, 'a', 1, 'x'), (2, 'b', 1, 'y');
merge into {t} t using (select 1 id, 'c' name, 2L ts, 'x' dt) s on t.id = s.id and t.dt = s.dt when matched then update set id = s.id, dt = s.dt, name = s.name, ts = s.ts;
select id, name, ts, dt from {t} order by id;
    1|c|2|x
    2|b|1|y

=== the same key in two partitions, matched by both columns
create table {t} (id int, name string, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} values (1, 'a', 1, 'x'), (1, 'b', 1, 'y');
merge into {t} t using (select 1 id, 'c' name, 2L ts, 'y' dt) s on t.id = s.id and t.dt = s.dt when matched then update set * when not matched then insert *;
select id, name, ts, dt from {t} order by dt;
    1|a|1|x
    1|c|2|y
merge into {t} t using (select 1 id, 'd' name, 3L ts, 'z' dt) s on t.id = s.id and t.dt = s.dt when matched then update set * when not matched then insert *;
select id, name, ts, dt from {t} order by dt;
    1|a|1|x
    1|c|2|y
    1|d|3|z

=== inserts only, a condition on one of two keys
create table {t} (id1 int, id2 int, name string, price double, ts bigint, dt string) using hudi tblproperties (type = '{kind}', primaryKey = 'id1,id2', preCombineField = 'ts');
insert into {t} select 1, 1, 'a1', 1, 10, '2022-08-18';
merge into {t} as t0 using (select 1 as id1, 1 as id2, 'a1' as name, 11 as price, 110L as ts, '2022-08-19' as dt union all select 1, 2, 'a2', 10, 100, '2022-08-18') as s0 on t0.id1 = s0.id1 when not matched then insert *;
select id1, id2, name, price, ts, dt from {t} order by id2;
    1|1|a1|1.0|10|2022-08-18
  h 1|1|a1|1.0|10|2022-08-18
  h 1|2|a2|10.0|100|2022-08-18
-- differs: ON fits the row, so it is not inserted; Hudi compares all keys whatever ON says

=== nulls are written, and null is nothing's equal
create table {t} (id int, name string, price double, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1.5, 10), (2, null, null, 10);
merge into {t} t using (select 1 id, cast(null as string) name, cast(null as double) price, 11L ts union all select 2, 'b', 2.5, 11L) s on t.id = s.id when matched then update set *;
select id, name, price, ts from {t} order by id;
    1|NULL|NULL|11
    2|b|2.5|11
merge into {t} t using (select 1 id, 'c' name, 12L ts) s on t.id = s.id and t.name = s.name when matched then update set price = 9, ts = s.ts;
select id, name, price, ts from {t} order by id;
    1|NULL|NULL|11
    2|b|2.5|11
  h 1|NULL|9.0|12
  h 2|b|2.5|11
-- differs: ON asks for equal names, and a null is equal to nothing; Hudi only compares the keys

=== a merge with an insert of expressions
create table {t} (id int, name string, price double, ts bigint) using hudi {std};
merge into {t} t using (select 5 id, 'n' name, 2D price, 1L ts) s on t.id = s.id when not matched then insert (id, name, price, ts) values (s.id, upper(s.name), s.price * 10 + 1, s.ts + 1);
select id, name, price, ts from {t};
    5|N|21.0|2
merge into {t} t using (select 5 id, 'n' name, 2D price, 3L ts) s on t.id = s.id when not matched then insert (id, ts) values (s.id, s.ts) when matched and t.price > 20 then update set price = t.price - s.price, name = concat(t.name, s.name), ts = s.ts;!hudi
select id, name, price, ts from {t};
    5|Nn|19.0|3
  h 5|N|21.0|2
-- differs: Hudi's grammar wants WHEN MATCHED first
