"""Writes the passwords of Airflow's users from the environment into the file that Airflow reads.

Without it Airflow makes some up and prints them into its log.
"""

import json
import os
import sys


def main(environ):
    """Writes the file. Returns what is wrong, None when nothing is."""
    users = [entry.partition(":")[0] for entry in environ["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"].split(",")]
    passwords = {user: environ.get(f"AIRFLOW_{user.upper()}_PASSWORD") for user in users}
    if missing := [user for user, password in passwords.items() if not password]:
        return f"no password for {', '.join(missing)}: set AIRFLOW_<USER>_PASSWORD"
    path = environ["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"]
    # Renamed into place: the API server may be reading.
    temporary = f"{path}.new"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(passwords, file)
    os.replace(temporary, path)
    return None


if __name__ == "__main__":
    sys.exit(main(os.environ))
