SELECT c.medium, count(*), avg(c.fee) FROM loans c WHERE substr(c.day, 1, 7) = '2022-05' GROUP BY c.medium ORDER BY c.medium;
