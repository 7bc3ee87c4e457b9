=== days of weeks, and dates of dates
create table {t} (id int, d date, at timestamp) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, date '2024-01-31', timestamp '2024-01-31 22:30:00.5');
select dayofweek(d), weekday(d), extract(dow from d), dayofweek(d) + 1, cast(date_add(d, 1) as string), dayofweek(date_add(d, 1)) from {t};
    4|2|4|5|2024-02-01|5
select date_add(d, 1), date_sub(d, 31), add_months(d, 1), add_months(date_add(d, 1), 1), last_day(d), datediff(d, date '2023-12-31') from {t};
    2024-02-01|2023-12-31|2024-02-29|2024-03-01|2024-01-31|31
select year(at), quarter(at), month(at), dayofyear(d), hour(at), minute(at), second(at), weekofyear(d) from {t};
    2024|1|1|31|22|30|0|5

=== orders and limits
create table {t} (id int, n int, s string) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, 3, 'b'), (2, null, 'B'), (3, 1, 'a'), (4, 3, null);
select id from {t} order by n, id;
    2
    3
    1
    4
select id from {t} order by n desc, id;
    1
    4
    3
    2
select id from {t} order by n nulls last, id desc;
    3
    4
    1
    2
select id from {t} order by s, id;
    4
    2
    3
    1
select id from {t} order by id limit 2;
    1
    2
select distinct n from {t} order by n;
    NULL
    1
    3
select n, count(*) c from {t} group by n order by c desc, n;
    3|2
    NULL|1
    1|1

=== joins of every kind
create table {t} (id int, n int) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
create table {s} (id int, w string) using hudi tblproperties (type = '{kind}', primaryKey = 'id');
insert into {t} values (1, 10), (2, 20), (3, null);
insert into {s} values (2, 'two'), (3, 'three'), (4, 'four');
select a.id, b.w from {t} a join {s} b on a.id = b.id order by a.id;
    2|two
    3|three
select a.id, b.w from {t} a left join {s} b on a.id = b.id order by a.id;
    1|NULL
    2|two
    3|three
select coalesce(a.id, b.id) x, n, w from {t} a full outer join {s} b on a.id = b.id order by x;
    1|10|NULL
    2|20|two
    3|NULL|three
    4|NULL|four
select a.id from {t} a left semi join {s} b on a.id = b.id order by a.id;
    2
    3
select a.id from {t} a left anti join {s} b on a.id = b.id order by a.id;
    1
select id, n, w from {t} join {s} using (id) order by id;
    2|20|two
    3|NULL|three
select id from {t} union select id from {s} order by id;
    1
    2
    3
    4
select id from {t} intersect select id from {s} order by id;
    2
    3
select id from {t} except select id from {s} order by id;
    1
select id, (select max(id) from {s}) m from {t} where n > (select avg(n) from {t}) order by id;
    2|4
