SELECT c.member_id, c.day, c.id, c.run FROM (SELECT *, count(fee) OVER (PARTITION BY member_id ORDER BY day, id) AS run FROM loans) c WHERE c.fee < 1500 ORDER BY c.member_id, c.day, c.id;
