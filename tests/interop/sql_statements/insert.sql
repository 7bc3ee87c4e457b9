=== values, partition columns last
create table {t} (id int, dt string, name string, price double, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (dt);
insert into {t} values (1, 'a1', 10, 1000, '2021-01-05'), (2, 'a2', 20, 2000, '2021-01-06'), (3, 'a3', 30, 3000, '2021-01-07');
select id, name, price, ts, dt from {t} order by id;
    1|a1|10.0|1000|2021-01-05
    2|a2|20.0|2000|2021-01-06
    3|a3|30.0|3000|2021-01-07
select count(*), sum(price) from {t} where dt > '2021-01-05';
    2|50.0

=== a named partition
create table {t} (id int, dt string, name string, price double, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (dt);
insert into {t} partition (dt = '2021-01-05') select 1 as id, 'a1' as name, 10 as price, 1000 as ts;
insert into {t} partition (dt = '2021-01-06') select 2, 'a2', 20, 2000;
insert into {t} select 3, 'a3', 30, 3000, '2021-01-07';
select id, name, price, ts, dt from {t} order by id;
    1|a1|10.0|1000|2021-01-05
    2|a2|20.0|2000|2021-01-06
    3|a3|30.0|3000|2021-01-07

=== columns of a query in another order, the partition named
create table {t} (id int, dt string, name string, price double, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (dt);
insert into {t} partition (dt = '2021-01-06') select 20 as price, 2000 as ts, 2 as id, 'a2' as name;
select id, name, price, ts, dt from {t} order by id;
    2|a2|20.0|2000|2021-01-06

=== a partition of the rows, by name
create table {t} (id int, dt string, name string, price double, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (dt);
insert into {t} partition (dt) select 1 as id, 'a1' as name, 10 as price, 1000 as ts, '2021-01-05' as dt;
select id, name, price, ts, dt from {t} order by id;
    1|a1|10.0|1000|2021-01-05

=== several partition columns
create table {t} (id int, dt string, name string, price double, ht string, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (dt, ht);
insert into {t} partition (dt, ht) select 1 as id, 'a1' as name, 10 as price, 1000 as ts, '20210101' as dt, '01' as ht;
insert into {t} partition (dt = '20210102', ht) select 2 as id, 'a2' as name, 20 as price, 2000 as ts, '02' as ht;
insert into {t} select 4, 'a4', 40, 4000, '20210104', '04';
select id, name, price, ts, dt, ht from {t} order by id;
    1|a1|10.0|1000|20210101|01
    2|a2|20.0|2000|20210102|02
    4|a4|40.0|4000|20210104|04

=== a later partition column is given, an earlier one is not
create table {t} (id int, dt string, name string, price double, ht string, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (dt, ht);
insert into {t} partition (dt, ht = '03') select 3 as id, 'a3' as name, 30 as price, 3000 as ts, '20210103' as dt;
select id, name, price, ts, dt, ht from {t} order by id;
    3|a3|30.0|3000|20210103|03

=== named columns
create table {t} (id int, name string, price double, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} (ts, dt, id, price, name) values (10, 'x', 1, 1.5, 'a');
select id, name, price, ts, dt from {t};
    1|a|1.5|10|x
insert into {t} (id, ts, dt) values (2, 10, 'y');
select id, name, price, ts, dt from {t} order by id;
    1|a|1.5|10|x
    2|NULL|NULL|10|y

=== overwrite: all rows, a partition, the partitions of the rows
create table {t} (id int, name string, price double, ts bigint, dt string) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (dt);
insert into {t} values (1, 'a1', 10, 1000, '2021-01-05'), (2, 'a2', 10, 1000, '2021-01-06');
insert overwrite table {t} values (3, 'a3', 10, 1000, '2021-01-06'), (4, 'a4', 10, 1000, '2021-01-07');
select id, name, price, ts, dt from {t} order by id;
    3|a3|10.0|1000|2021-01-06
    4|a4|10.0|1000|2021-01-07
insert overwrite table {t} partition (dt = '2021-01-06') select * from (select 6, 'a6', 10, 1000) limit 10;
select id, name, price, ts, dt from {t} order by id;
    4|a4|10.0|1000|2021-01-07
    6|a6|10.0|1000|2021-01-06
set hoodie.datasource.overwrite.mode = dynamic;
insert overwrite table {t} values (7, 'a7', 10, 1000, '2021-01-07');
select id, name, price, ts, dt from {t} order by id;
    6|a6|10.0|1000|2021-01-06
    7|a7|10.0|1000|2021-01-07
set hoodie.datasource.overwrite.mode = static;
insert overwrite table {t} values (8, 'a8', 10, 1000, '2021-01-07'), (9, 'a9', 10, 1000, '2021-01-08');
select id, name, price, ts, dt from {t} order by id;
    8|a8|10.0|1000|2021-01-07
    9|a9|10.0|1000|2021-01-08
set hoodie.datasource.overwrite.mode = static;

=== overwrite of a table without partitions
create table {t} (id int, name string, price double, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} select 1, 'a1', 10, 1000;
insert overwrite table {t} select 2, 'a2', 10, 1000;
select id, name, price, ts from {t};
    2|a2|10.0|1000

=== a partition column of whole numbers
create table {t} (id int, name string, price double, p int) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (p);
insert into {t} partition (p = 1000) select 1, 'a1', 10;
insert into {t} select 2, 'a2', 10, 1000;
insert into {t} select 3, 'a3', 10, null;
select id, name, price, p from {t} order by id;
    1|a1|10.0|1000
    2|a2|10.0|1000
    3|a3|10.0|NULL
select count(*) from {t} where p = 1000;
    2
select count(*) from {t} where p is null;
    1

=== a partition column of dates
create table {t} (id int, name string, price double, p date) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (p);
insert into {t} partition (p = date '2021-05-20') select 1, 'a1', 10;
insert into {t} select 2, 'a2', 10, date '2021-05-21';
select id, name, price, p from {t} order by id;
    1|a1|10.0|2021-05-20
    2|a2|10.0|2021-05-21
select id from {t} where p > date '2021-05-20';
    2

=== a partition column of long numbers
create table {t} (id int, name string, price double, p bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (p);
insert into {t} partition (p = 10000) select 1, 'a1', 10;
insert into {t} select 2, 'a2', 10, 10000000000;
select id, name, price, p from {t} order by id;
    1|a1|10.0|10000
    2|a2|10.0|10000000000

=== large letters in the name of a table
create table {T} (id int, name string, price double) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {T} values (1, 'a1', 10);
select id, name, price from {t};
    1|a1|10.0

=== too many and too few values
create table {t} (id int, name string, price double, dt string) using hudi tblproperties (type = '{kind}', primaryKey = 'id') partitioned by (dt);
insert into {t} partition (dt = '2021-06-20') select 1, 'a1', 10, '2021-06-20';!
insert into {t} select 1, 'a1', 10;!
select count(*) from {t};
    0

=== keys that are there: without ordering they are doubled
create table {t} (id int, name string) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, 'a');
insert into {t} values (1, 'b');
select id, name from {t} order by name;
    1|a
    1|b

=== an insert by operation upsert without ordering
create table {t} (id int, name string) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
set hoodie.spark.sql.insert.into.operation = upsert;
insert into {t} values (1, 'a');
insert into {t} values (1, 'b');
select id, name from {t} order by name;
    1|b
set hoodie.spark.sql.insert.into.operation = insert;
insert into {t} values (1, 'c');
select id, name from {t} order by name;
    1|b
    1|c

=== duplicates are dropped, or refused
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
set hoodie.spark.sql.insert.into.operation = insert;
set hoodie.datasource.insert.dup.policy = drop;
insert into {t} values (1, 'b', 2), (2, 'c', 2);
select id, name, ts from {t} order by id;
    1|a|1
    2|c|2
set hoodie.datasource.insert.dup.policy = fail;
insert into {t} values (1, 'd', 3), (3, 'e', 3);!
select id, name, ts from {t} order by id;
    1|a|1
    2|c|2
set hoodie.datasource.insert.dup.policy = none;

=== a bulk insert keeps what is there
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
set hoodie.spark.sql.insert.into.operation = bulk_insert;
insert into {t} values (1, 'b', 2), (2, 'c', 2);
select id, name, ts from {t} order by id, name;
    1|a|1
    1|b|2
    2|c|2

=== no row is inserted
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} select 1, 'a', 1 where false;
select count(*) from {t};
    0

=== generated keys
create table {t} (id int, name string) using hudi tblproperties (type = '{kind}');
insert into {t} values (1, 'a'), (1, 'a');
insert into {t} values (1, 'b');
select id, name from {t} order by name;
    1|a
    1|a
    1|b

=== a null in the key is refused
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (null, 'a', 1);!
select count(*) from {t};
    0

=== the ordering value is null
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', null);!ours
-- differs: Hudi stores a row without ordering value; here it is refused, as it would win or lose at random

=== a query of itself
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1), (2, 'b', 1);
insert into {t} select id + 10, upper(name), ts from {t};
select id, name, ts from {t} order by id;
    1|a|1
    2|b|1
    11|A|1
    12|B|1
insert overwrite {t} select id, name, ts from {t} where id > 10;
select id, name, ts from {t} order by id;
    11|A|1
    12|B|1

=== union, join, and a common table expression
create table {t} (id int, name string, ts bigint) using hudi {std};
create table {s} (id int, other string) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {s} values (1, 'x'), (2, 'y');
insert into {t} select 1, 'a', 1 union all select 2, 'b', 1;
insert into {t} with c as (select * from {s}) select t.id + 10, concat(t.name, c.other), t.ts from {t} t join c on t.id = c.id;
select id, name, ts from {t} order by id;
    1|a|1
    2|b|1
    11|ax|1
    12|by|1

=== a table of a query with partitions
create table {t} using hudi tblproperties (type = '{kind}', primaryKey = 'id', preCombineField = 'ts') partitioned by (dt) as select 1 as id, 'a1' as name, 10 as price, 1000 as ts, '2021-04-01' as dt;
select id, name, price, ts, dt from {t};
    1|a1|10|1000|2021-04-01
update {t} set price = 11 where id = 1;
select id, name, price, ts, dt from {t};
    1|a1|11|1000|2021-04-01

=== if not exists
create table {t} (id int, name string) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
create table if not exists {t} (id int, other string) using hudi tblproperties (primaryKey = 'id');
create table {t} (id int) using hudi tblproperties (primaryKey = 'id');!
insert into {t} values (1, 'a');
select id, name from {t};
    1|a

=== wrong keys are refused
create table {t} (id int, name string) using hudi tblproperties (type = '{kind}', primaryKey = 'nope');!
create table {t} (id int, name string) using hudi tblproperties (type = '{kind}', primaryKey = 'id', preCombineField = 'nope');!
create table {t} (id int, name string) using hudi tblproperties (type = 'other', primaryKey = 'id');!

=== columns of a query in another order go by their names
create table {t} (id int, name string, other string, ts bigint) using hudi {std};
insert into {t} select 'o' as other, 7 as ts, 'n' as name, 1 as id;
select id, name, other, ts from {t};
    1|n|o|7
insert into {t} select 'o' as OTHER, 7L as ts, 'n' as Name, 2 as id;
select id, name, other, ts from {t} order by id;
    1|n|o|7
    2|n|o|7

=== columns of a query with one other name go by position
create table {t} (id int, name string, other string, ts bigint) using hudi {std};
insert into {t} select 1 as id, 'first' as other, 'second' as x, 7 as ts;
select id, name, other, ts from {t};
    1|first|second|7

=== named columns and a query with names in another order
create table {t} (id int, name string, other string, ts bigint) using hudi {std};
insert into {t} (id, other, name, ts) select 1 as id, 'n' as name, 'o' as other, 7 as ts;
select id, name, other, ts from {t};
    1|o|n|7

=== overwrite by names in another order
create table {t} (id int, name string, other string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 'b', 1);
insert overwrite {t} select 'o' as other, 7L as ts, 'n' as name, 2 as id;
select id, name, other, ts from {t} order by id;
    2|n|o|7

=== keys that are there: upsert by the option
create table {t} (id int, name string, ts bigint) using hudi {std};
set hoodie.spark.sql.insert.into.operation = upsert;
insert into {t} values (1, 'a', 10);
insert into {t} values (1, 'newer', 11);
select id, name, ts from {t};
    1|newer|11
insert into {t} values (1, 'older', 5);
select id, name, ts from {t};
    1|newer|11
insert into {t} values (1, 'same', 11);
select id, name, ts from {t};
    1|same|11
insert into {t} values (2, 'x', 3), (2, 'y', 2);
select id, name, ts from {t} order by id;
    1|same|11
    2|x|3

=== a table with upsert in its properties
create table {t} (id int, name string, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id', preCombineField = 'ts', 'hoodie.spark.sql.insert.into.operation' = 'upsert');
insert into {t} values (1, 'a', 10);
insert into {t} values (1, 'newer', 11);
select id, name, ts from {t} order by name;
    1|newer|11

=== keys that are there: an insert doubles them, with an ordering field, too
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 10);
insert into {t} values (1, 'newer', 11);
select id, name, ts from {t};
    1|newer|11
  h 1|a|10
  h 1|newer|11
insert into {t} values (1, 'older', 5);
select id, name, ts from {t};
    1|newer|11
  h 1|a|10
  h 1|newer|11
  h 1|older|5
insert into {t} values (1, 'same', 11);
select id, name, ts from {t};
    1|same|11
  h 1|a|10
  h 1|newer|11
  h 1|older|5
  h 1|same|11
-- differs: into a table with keys and an ordering field INSERT is an upsert here; Hudi adds the row, and the key stands twice

=== one key twice in one insert
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'x', 3), (1, 'y', 2), (2, 'z', 1);
select id, name, ts from {t} order by id;
    1|x|3
    2|z|1
  h 1|x|3
  h 1|y|2
  h 2|z|1
-- differs: INSERT is an upsert here; Hudi keeps both rows

=== composite keys
create table {t} (a int, b string, name string, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'a,b', preCombineField = 'ts');
insert into {t} values (1, 'x', 'one', 1), (1, 'y', 'two', 1), (2, 'x', 'three', 1);
insert into {t} values (1, 'y', 'again', 2);
select a, b, name, ts from {t} order by a, b;
    1|x|one|1
    1|y|again|2
    2|x|three|1
  h 1|x|one|1
  h 1|y|two|1
  h 1|y|again|2
  h 2|x|three|1
update {t} set name = 'u' where b = 'x';
delete from {t} where a = 2;
select a, b, name, ts from {t} order by a, b;
    1|x|u|1
    1|y|again|2
  h 1|x|u|1
  h 1|y|two|1
  h 1|y|again|2
-- differs: INSERT is an upsert here; Hudi adds the row, and the key stands twice

=== the ordering field by its new name
create table {t} (id int, name string, ts bigint) using hudi tblproperties (type = '{kind}', primaryKey = 'id', orderingFields = 'ts');
insert into {t} values (1, 'a', 10);
insert into {t} values (1, 'b', 11);
select id, name, ts from {t} order by name;
    1|b|11
  h 1|a|10
  h 1|b|11
set hoodie.spark.sql.insert.into.operation = upsert;
insert into {t} values (2, 'a', 10);
insert into {t} values (2, 'older', 5);
select id, name, ts from {t} where id = 2;
    2|a|10
-- differs: INSERT is an upsert here; Hudi adds the row, and the key stands twice
