=== a column is added
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
alter table {t} add columns (ext0 string);
select id, name, ts, ext0 from {t};
    1|a|1|NULL
update {t} set ext0 = 'x', ts = 2 where id = 1;
insert into {t} values (2, 'b', 1, 'y');
select id, name, ts, ext0 from {t} order by id;
    1|a|2|x
    2|b|1|y
select id from {t} where ext0 is null;

=== two columns are added, of several types
create table {t} (id int, ts bigint) using hudi {std};
insert into {t} values (1, 1);
alter table {t} add columns (d decimal(10, 2), day date);
alter table {t} add columns (tags array<string>, s struct<x: int, y: string>);
select id, d, day, tags, s.x from {t};
    1|NULL|NULL|NULL|NULL
insert into {t} select 2, 1, cast(1.25 as decimal(10, 2)), date '2024-01-02', array('p', 'q'), named_struct('x', 7, 'y', 'z');
select id, d, day, tags[1], s.x, s.y from {t} order by id;
    1|NULL|NULL|NULL|NULL|NULL
    2|1.25|2024-01-02|q|7|z

=== a column is added to a table without rows
create table {t} (id int, name string, ts bigint) using hudi {std};
alter table {t} add columns (price double);
insert into {t} values (1, 'a', 1, 2.5);
select id, name, ts, price from {t};
    1|a|1|2.5

=== a column is added to a table with partitions
create table {t} (id int, name string, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} values (1, 'a', 1, 'x'), (2, 'b', 1, 'y');
set hoodie.schema.on.read.enable = true;
alter table {t} add columns (more int after name);
update {t} set more = 5, ts = 2 where dt = 'y';
select id, name, more, dt from {t} order by id;
    1|a|NULL|x
    2|b|5|y
select count(*) from {t} where more > 1 and dt = 'y';
    1
set hoodie.schema.on.read.enable = false;

=== a column is there already
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
alter table {t} add columns (name string);!
select id, name from {t};
    1|a

=== first and after
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
set hoodie.schema.on.read.enable = true;
alter table {t} add columns (one int after id);
alter table {t} add columns (two string after one);
select id, one, two, name, ts from {t};
    1|NULL|NULL|a|1
insert into {t} values (2, 20, 'tt', 'b', 1);
select id, one, two, name, ts from {t} order by id;
    1|NULL|NULL|a|1
    2|20|tt|b|1
set hoodie.schema.on.read.enable = false;

=== a field of a struct is added
create table {t} (id int, s struct<x: int, y: string>, ts bigint) using hudi {std};
insert into {t} select 1, named_struct('x', 1, 'y', 'a'), 1;
set hoodie.schema.on.read.enable = true;
alter table {t} add columns (s.z int after x);
select id, s.x, s.z, s.y from {t};
    1|1|NULL|a
update {t} set ts = 2 where id = 1;
select id, s.x, s.z, s.y, ts from {t};
    1|1|NULL|a|2
insert into {t} select 2, named_struct('x', 2, 'z', 22, 'y', 'b'), 1;
select id, s.x, s.z, s.y from {t} order by id;
    1|1|NULL|a
    2|2|22|b
set hoodie.schema.on.read.enable = false;

=== a column is renamed
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1), (2, 'b', 1);
set hoodie.schema.on.read.enable = true;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = true;
alter table {t} rename column name to title;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = false;
select id, title from {t} order by id;
    1|a
    2|b
select name from {t};!
update {t} set title = 'c', ts = 2 where id = 2;
select id, title from {t} where title <> 'a';
    2|c
set hoodie.schema.on.read.enable = false;

=== a name is used again after a rename
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
set hoodie.schema.on.read.enable = true;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = true;
alter table {t} rename column name to title;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = false;
alter table {t} add columns (name string after ts);
select id, title, name from {t};
    1|a|NULL
update {t} set name = 'new', ts = 2;
select id, title, name from {t};
    1|a|new
set hoodie.schema.on.read.enable = false;

=== a column is dropped
create table {t} (id int, name string, price double, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1.5, 1);
set hoodie.schema.on.read.enable = true;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = true;
alter table {t} drop column price;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = false;
select id, name, ts from {t};
    1|a|1
select price from {t};!
insert into {t} values (2, 'b', 1);
select id, name, ts from {t} order by id;
    1|a|1
    2|b|1
set hoodie.schema.on.read.enable = false;

=== a dropped column comes back empty
create table {t} (id int, name string, price double, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1.5, 1);
set hoodie.schema.on.read.enable = true;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = true;
alter table {t} drop column price;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = false;
alter table {t} add columns (price double after name);
select id, name, price, ts from {t};
    1|a|NULL|1
set hoodie.schema.on.read.enable = false;

=== what nobody knows is not dropped
create table {t} (id int, name string, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} values (1, 'a', 1, 'x');
set hoodie.schema.on.read.enable = true;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = true;
alter table {t} drop column nobody;!
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = false;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = true;
alter table {t} rename column nobody to somebody;!
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = false;
select id, name, ts, dt from {t};
    1|a|1|x
set hoodie.schema.on.read.enable = false;

=== a wider type
create table {t} (id int, n int, f float, ts bigint) using hudi {std};
insert into {t} values (1, 7, 1.5, 1);
set hoodie.schema.on.read.enable = true;
alter table {t} alter column n type bigint;
alter table {t} alter column f type double;
select id, n, f from {t};
    1|7|1.5
insert into {t} values (2, 5000000000, 2.25, 1);
select id, n, f from {t} where n > 6 order by id;
    1|7|1.5
    2|5000000000|2.25
select sum(n) from {t};
    5000000007
set hoodie.schema.on.read.enable = false;

=== a number becomes text
create table {t} (id int, n int, ts bigint) using hudi {std};
insert into {t} values (1, 7, 1), (2, null, 1);
set hoodie.schema.on.read.enable = true;
alter table {t} alter column n type string;
select id, n, concat(n, '!') from {t} order by id;
    1|7|7!
    2|NULL|NULL
set hoodie.schema.on.read.enable = false;

=== a decimal of more digits
create table {t} (id int, d decimal(6, 2), ts bigint) using hudi {std};
insert into {t} values (1, 1234.56, 1);
set hoodie.schema.on.read.enable = true;
alter table {t} alter column d type decimal(12, 2);
insert into {t} values (2, 1234567890.12, 1);
select id, d from {t} order by id;
    1|1234.56
    2|1234567890.12
set hoodie.schema.on.read.enable = false;

=== a narrower type is refused
create table {t} (id int, n bigint, name string, ts bigint) using hudi {std};
insert into {t} values (1, 5000000000, 'a', 1);
set hoodie.schema.on.read.enable = true;
alter table {t} alter column n type int;!
alter table {t} alter column name type int;!
select id, n, name from {t};
    1|5000000000|a
set hoodie.schema.on.read.enable = false;

=== columns are moved
create table {t} (id int, name string, price double, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1.5, 1);
set hoodie.schema.on.read.enable = true;
alter table {t} alter column price after id;
insert into {t} values (2, 2.5, 'b', 1);
select id, price, name, ts from {t} order by id;
    1|1.5|a|1
    2|2.5|b|1
set hoodie.schema.on.read.enable = false;

=== a comment of a column changes no row
create table {t} (id int comment 'the key', name string comment 'a name', ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
set hoodie.schema.on.read.enable = true;
alter table {t} alter column name comment 'another name';
select id, name from {t};
    1|a
update {t} set name = 'b', ts = 2;
select id, name from {t};
    1|b
describe {t} name;
    col_name|name
    comment|another name
    data_type|string
set hoodie.schema.on.read.enable = false;

=== options of a table
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1);
alter table {t} set tblproperties (hoodie.upsert.shuffle.parallelism = '2');
update {t} set name = 'b', ts = 2;
select id, name from {t};
    1|b
alter table {t} unset tblproperties (hoodie.upsert.shuffle.parallelism);
select id, name from {t};
    1|b

=== a merge after a column was added
create table {t} (id int, name string, ts bigint) using hudi {std};
insert into {t} values (1, 'a', 1), (2, 'b', 1);
alter table {t} add columns (more int);
merge into {t} t using (select 2 as id, 'B' as name, 2L as ts, 9 as more union all select 3, 'c', 2L, 8) s on t.id = s.id
when matched then update set * when not matched then insert *;
select id, name, ts, more from {t} order by id;
    1|a|1|NULL
    2|B|2|9
    3|c|2|8

=== rows are deleted after a rename
create table {t} (id int, name string, ts bigint, dt string) using hudi {std} partitioned by (dt);
insert into {t} values (1, 'a', 1, 'x'), (2, 'b', 1, 'x'), (3, 'c', 1, 'y');
set hoodie.schema.on.read.enable = true;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = true;
alter table {t} rename column name to title;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = false;
delete from {t} where title = 'b';
select id, title, dt from {t} order by id;
    1|a|x
    3|c|y
set hoodie.schema.on.read.enable = false;
