CREATE INDEX by_pid_day ON loans (member_id, day);
CREATE INDEX by_day ON loans (day);
