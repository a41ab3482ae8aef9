SELECT c.medium, count(*), avg(c.fee) FROM loans c WHERE c.day >= '2022-05-01' AND c.day < '2022-06-01' GROUP BY c.medium ORDER BY c.medium;
