"""`python3 docker/make_env.py` writes .env from .env.example with a secret of its own for every value that is empty there."""

import base64
import os
import sys

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Bytes of randomness: a Fernet key has exactly 32, a signature's key 48; MinIO takes no more than 40 characters.
BYTES = {"AIRFLOW_FERNET_KEY": 32, "AIRFLOW_JWT_SECRET": 48}


def filled(example):
    """The text of .env."""
    lines = []
    for line in example.splitlines():
        name, sign, value = line.partition("=")
        if sign and not value and not line.startswith("#"):
            line += base64.urlsafe_b64encode(os.urandom(BYTES.get(name, 30))).decode()
        lines.append(line)
    return "\n".join(lines) + "\n"


def main(folder):
    with open(os.path.join(folder, ".env.example")) as file:
        text = filled(file.read())
    target = os.path.join(folder, ".env")
    try:
        # Secrets that are in use are never overwritten.
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return f"{target} is there already; remove it first if no deployment uses its secrets"
    with open(handle, "w") as file:
        file.write(text)
    return None


if __name__ == "__main__":
    sys.exit(main(FOLDER))
