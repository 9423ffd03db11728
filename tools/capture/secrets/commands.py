"""Passwords in commands, recognised by an option or a place of the command alone.

Options with a telling name, as `--password`, are found in `tools/capture/secrets/assigned.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.tools.capture.secrets.assigned import is_no_secret, key_like
from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import Places, compiled, either, marks, signs, stems

_V = r"(?P<value>\"[^\"\n]{4,256}\"|'[^'\n]{4,256}'|[^\s\"'|;&<>]{4,256})"
_AFTER = {
    "curl": rf"\s(?:-[a-zA-Z]*u|--user|--proxy-user)[\s=]*[\"']?[^\s:\"']{{1,64}}:{_V}",
    "https? wget xh": rf"\s(?:-a|--auth)[\s=]+[\"']?[^\s:\"']{{1,64}}:{_V}",
    "sshpass": rf"\s-p\s*{_V}",
    "mysql mysqldump mysqladmin mysqlimport mysqlshow mariadb mariadb-dump mycli": rf"\s-p(?=\S){_V}",
    "mongo mongosh mongodump mongorestore mongoimport mongoexport mongostat cqlsh": rf"\s-p\s+{_V}",
    "rdesktop evil-winrm smbmap crackmapexec nxc netexec twine ncftpput steghide veracrypt": rf"\s-p\s+{_V}",
    "docker podman nerdctl helm oc az skopeo buildah crane": rf"\slogin\b[^\n|;]{{0,120}}?\s-p[\s=]*{_V}",
    "redis-cli iredis": rf"\s-a\s+{_V}",
    "sqlcmd bcp isql osql zip unzip zipcloak mosquitto_pub mosquitto_sub ipmitool": rf"\s-P\s*{_V}",
    "ssh-keygen": rf"\s-[NP]\s*{_V}",
    "7z 7za 7zr rar unrar": rf"\s-h?p(?=\S){_V}",
    "openssl": rf"(?:\s-[kK]\s+|\bpass:|\spasswd(?:\s+-\w+)*\s+(?!-)){_V}",
    "ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami snmpwalk snmpget wpa_cli": rf"\s-[wAX]\s+{_V}",
    "smbclient rpcclient smbget smbcacls winexe wmic": rf"\s-U\s*[\"']?[^\s%\"']{{1,64}}%{_V}",
    "net": rf"\suse\s[^\n|;]{{0,40}}?\\\\[^\s\"']{{1,200}}[\"']?\s+(?![/*]){_V}"
    rf"|\suse\s[^\n|;]{{0,200}}?\s/user:\S+\s+(?![/*])(?P<user>[^\s\"']{{4,256}})"
    rf"|\suser\s+[\w.-]+\s+(?![/*])(?P<added>[^\s\"']{{4,256}})",
    "htpasswd": rf"\s-\w*b\w*\s[^\n|;]{{0,200}}?[\w./@-]+\s+{_V}(?=\s*(?:$|[|;&\n]))",
    "xfreerdp wfreerdp mstsc": rf"\s/p:{_V}",
    "lftp ncftp": rf"\s-u\s*[\"']?[^\s,\"']{{1,64}},{_V}",
    "keytool jarsigner": rf"\s-(?:store|key|src|dest|new|ks|(?:dest|src)store)-?pass(?:wd)?\s+(?:pass:)?{_V}",
    "sqlplus sqlldr expdp impdp rman": rf"\s[\"']?\w{{1,30}}/{_V}(?:@|\s)",
    "rabbitmqctl": rf"\s(?:add_user|change_password)\s+\S+\s+{_V}",
    "wpa_passphrase": rf"\s(?:\"[^\"\n]+\"|\S+)\s+{_V}",
    "vault": rf"\slogin\s+(?!-)(?=\S*\d){_V}",
    "oathtool": rf"(?:\s-\S+)*\s+(?=[A-Z2-7=]{{16}}|\S*\d){_V}\s*(?=$|[|;&\n])",
    "plink pscp psftp": rf"\s-pw\s+{_V}",
    "swaks": rf"\s-ap\s+{_V}",
    "rclone": rf"\sobscure\s+{_V}",
    "ccrypt mcrypt": rf"\s-[Kk]\s*{_V}",
    "pdftk": rf"_pw\s+{_V}",
    "qpdf": rf"\s--encrypt\s+{_V}",
    "ab": rf"\s-A\s+[\"']?[^\s:\"']{{1,64}}:{_V}",
    "gh": rf"\ssecret\s+set\s[^\n|;]{{0,120}}?\s(?:-b|--body)[\s=]+{_V}",
    "aws": rf"\sset\s+\S*(?:secret_access_key|session_token)\s+{_V}",
    "nmcli": rf"\s(?:password|\S*psk)\s+{_V}",
    "cmdkey": rf"\s/pass:{_V}",
    "psexec": rf"\s-p\s+{_V}",
    "security": rf"\s-w\s+{_V}",
    "bw": rf"\s(?:unlock|login\s+\S+)\s+(?=\S*\d){_V}",
    "mysqladmin": rf"\spassword\s+{_V}",
    "mc": rf"\salias\s+set\s+\S+\s+\S+\s+\S+\s+{_V}",
    "pdftotext pdfinfo pdftoppm": rf"\s-[uo]pw\s+{_V}",
    "doppler pulumi": rf"\s(?:secrets|config)\s+set\s+(?:--\w+\s+)?\w*(?i:pass|secret|token|key)\w*\s+(?!-){_V}",
    "npm pnpm yarn": rf"\sconfig\s+set\s+\S*(?i:auth|password|token)\S*[\s=]+{_V}",
    "keyvault put-parameter put-secret-value create-secret": rf"\s--(?:value|secret-string)[\s=]+{_V}",
    "useradd usermod": rf"\s-p\s+{_V}",
}
_OPTIONS = tuple(
    (f"{name} ", options) for names, options in _AFTER.items() for name in names.replace("https?", "http https").split()
)
_NAMES = marks((name for name, _ in _OPTIONS), (".exe ",))
"""The names of commands; arguments follow after a space."""
_PIPED = (
    rf"\b(?:echo|printf)\s+(?:-\w+\s+|[\"']?%s(?:\\n)?[\"']?\s+)?(?:[\"']?[\w.-]{{1,32}}:"
    rf"(?=[^\n|]{{1,256}}chpasswd))?{_V}[\"']?\s*\|\s*(?:sudo\s+)?"
    r"(?:-S|-kS|chpasswd|passwd|cryptsetup|gpg2?\s[^\n|]{0,80}?--passphrase-fd|kinit|su|smbpasswd"
    r"|docker\s+login|podman\s+login|helm\s+registry"
    r"|gh\s+auth|vncpasswd|openssl\s+passwd|veracrypt|openconnect|sshfs|psql\s-W)\b"
)
_HERE = (
    rf"(?:\b(?:sudo\s+-S|passwd\s+--stdin|kinit|su|passwd|vncpasswd|cryptsetup|secret\s+put|signin|--password-stdin|--with-token|chpasswd)\b"
    rf"[^\n|;]{{0,80}}?)<<<\s*(?:[\"']?[\w.-]{{1,32}}:)?{_V}"
)
_SQL = (
    r"(?im)"
    r"\b(?:identified\s+(?:with\s+\S+\s+)?(?:by|as)(?:\s+password)?|(?:encrypted\s+)?password)\s+(?P<mark>['\"])"
    r"(?P<value>[^'\"\n]{4,256})(?P=mark)|\bcrypt\(\s*'(?P<crypted>[^'\n]{4,256})'\s*,"
    r"|\bsend(?:\s--)?\s\"(?P<sent>[^\"\s\\]{6,256})\\[rn]\""
    r"|^\s*(?:>\s*)?(?:AUTH|requirepass|masterauth|enable\s+secret(?:\s+\d)?|bindpw|rootpw|olcRootPW:|pre-shared-key"
    r"|wpa-psk|ppp\s+chap\s+password|snmp-server\s+community|(?:tacacs|radius)-server\s+key"
    r"|username\s+\S+\s+(?:privilege\s+\d+\s+)?(?:secret|password)(?:\s+\d)?)\s+[\"']?(?=\S*[\d!#$%^*@])(?P<said>[^\s\"']{6,256})"
)
_SQL_STEMS = marks(
    (
        "identified",
        "password '",
        "auth ",
        "crypt(",
        "requirepass",
        "enable secret",
        "send ",
        "bindpw",
        "rootpw",
        "shared-key",
        "wpa-psk",
        "ppp",
        "snmp-server",
        "-server key",
        "username ",
    )
)
_TOKEN = (
    r"(?i)(?:auth(?:token)?|login|activate|token|api-?key)\s+(?=\S*\d)(?P<value>[\w.-]{20,512})[ \t]*(?:\n|\Z|[|&;])"
)
_TOKEN_STEMS = stems(("auth ", "authtoken ", "login ", "activate ", "token ", "key "))
_COMMAND = re.compile(r"(?:^|\n|`)(?:[>$#\s]{0,4})(?:sudo\s|npx\s)?[a-z][\w.-]{1,30}\s(?:[a-z][\w-]{1,20}[\s-]){0,2}\Z")
"""A command with a token after the name of its action."""
MAX_LINE = 1_000
_PIPES = marks(("echo", "printf"))
_HERES = signs("<<<")
MAY_COMMAND = either(_NAMES, _PIPES, _HERES, _TOKEN_STEMS, _SQL_STEMS)
"""Every text that gives a password to a command has one of these."""


def command_secrets(places: Places) -> Iterator[FoundSecret]:
    """Yield the passwords that commands and statements of databases are given. Takes linear time."""
    text = places.text
    if not (places.numbered or " -" in text or "'" in text or places.has(_SQL_STEMS)):
        return
    for name, options in _options(places):
        end = 0
        while (start := text.find(name, end)) >= 0:
            end = start + len(name) - 1
            if start and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
                continue
            newline = text.find("\n", end, end + MAX_LINE)
            stop = newline if newline >= 0 else min(len(text), end + MAX_LINE)
            for found in compiled(f"(?m){options}").finditer(text, end, stop):
                yield from _given(found)
            end = stop
    for found in compiled(_PIPED).finditer(text) if "|" in text and places.may(_PIPES) else ():
        yield from _given(found)
    for found in compiled(_HERE).finditer(text) if places.may(_HERES) else ():
        yield from _given(found)
    for found in places.matches(_TOKEN, _TOKEN_STEMS) if places.numbered else ():
        if key_like(found["value"]) and _COMMAND.search(text, max(0, found.start() - 80), found.start()):
            yield from _given(found)
    for found in compiled(_SQL).finditer(text) if places.has(_SQL_STEMS) else ():
        yield from _given(found)


def _options(places: Places) -> Iterator[tuple[str, str]]:
    """Yield the commands of a text, as it names them, and their options."""
    said = frozenset(places.among(_NAMES))
    if said:
        yield from (command for command in _OPTIONS if command[0] in said)
    if ".exe " in said:
        yield from ((f"{name[:-1]}.exe ", options) for name, options in _OPTIONS)


def _given(found: re.Match[str]) -> Iterator[FoundSecret]:
    group = found.lastgroup or "value"
    start, end = found.span(group)
    value = found[group]
    if value[0] in "\"'" and value[-1] == value[0]:
        start, end, value = start + 1, end - 1, value[1:-1]
    if value[0] not in "-$" and not is_no_secret(value):
        yield FoundSecret(start, end, "password")
