# What an agent can read of its container, for whoever asks from outside: its home, where it stands, and an
# archive of small files that are no part of a usual system.
getent passwd "$(id -u)" | cut -d: -f6
pwd
find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /boot -o -path /usr -o -path /bin \
  -o -path /sbin -o -path '/lib*' -o -path /etc -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/cache \
  -o -path /var/log -o -path /logs -o -path /tests -o -path /solution \) -prune \
  -o -type f -readable -size -512k -print0 2> /dev/null |
  head -z -n 1000 | tar -cz --null -T - 2> /dev/null | base64 -w 0
