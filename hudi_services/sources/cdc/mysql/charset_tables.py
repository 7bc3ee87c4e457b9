"""Characters of the server for which Python has no codec, as MariaDB 10.11 prints them.

`\ufffe` stands for bytes that are no character.
"""

from __future__ import annotations

from collections.abc import Mapping

_NO = "\ufffe"
_ASCII = bytes(range(128)).decode()
CHARMAPS: Mapping[str, str] = {
    # Sets of one byte: the characters of the bytes from 0 on.
    "armscii8": _ASCII
    + bytes(range(128, 160)).decode("latin1")
    + ("\xa0❁§։)(»«—.՝,-՟…՜՛՞ԱաԲբԳգԴդԵեԶզԷէԸըԹթԺժԻիԼլԽխԾծԿկՀհՁձՂղՃճՄմՅյՆնՇշՈոՉչՊպՋջՌռՍսՎվՏտՐրՑցՒւՓփՔքՕօՖֆ’'"),
    "dec8": _ASCII
    + bytes(range(128, 160)).decode("latin1")
    + (
        "\xa0¡¢£\ufffe¥\ufffe§¤©ª«\ufffe\ufffe\ufffe\ufffe°±²³\ufffeµ¶·\ufffe¹º»¼½\ufffe¿ÀÁÂÃÄÅÆÇÈÉ"
        "ÊËÌÍÎÏ\ufffeÑÒÓÔÕÖŒØÙÚÛÜŸ\ufffeßàáâãäåæçèéêëìíîï\ufffeñòóôõöœøùúûüÿ\ufffe\ufffe"
    ),
    "geostd8": _ASCII
    + (
        "€\ufffe‚\ufffe„…†‡\ufffe‰\ufffe‹\ufffe\ufffe\ufffe\ufffe\ufffe‘’“”•–—\ufffe\ufffe\ufffe›"
        "\ufffe\ufffe\ufffe\ufffe\xa0¡¢£¤¥¦§¨©ª«¬\xad®¯°±²³´µ¶·¸¹º»¼½¾¿აბგდევზჱთიკლმნჲოპჟრსტჳუფქღყშ"
        "ჩცძწჭხჴჯჰჵ\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe"
        "\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe\ufffe№\ufffe\ufffe"
    ),
    "keybcs2": _ASCII
    + (
        "ČüéďäĎŤčěĚĹÍľĺÄÁÉžŽôöÓůÚýÖÜŠĽÝŘťáíóúňŇŮÔšřŕŔ¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘"
        "┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0"
    ),
    "swe7": _ASCII.translate(dict(zip(b"@[\\]^`{|}~\x7f", "ÉÄÖÅÜéäöåü" + _NO, strict=True))) + _NO * 128,
}


def _run(first: bytes, characters: str) -> dict[bytes, str]:
    """Characters of bytes in sequence. Each ends with a byte from A1 to FE, as in EUC, or from where `first` ends."""
    start = int.from_bytes(first, "big")
    codes = {}
    for character in characters:
        if character != _NO:
            codes[start.to_bytes(len(first), "big")] = character
        start += 0xA3 if start & 0xFF == 0xFE else 1
    return codes


_PRIVATE = {
    **_run(b"\xf5\xa1", "".join(map(chr, range(0xE000, 0xE3AC)))),
    **_run(b"\x8f\xf5\xa1", "".join(map(chr, range(0xE3AC, 0xE758)))),
}
EXTRAS: Mapping[str, Mapping[bytes, str]] = {
    # Sequences of bytes that Python's codec of the set refuses.
    "big5": _run(b"\xf9\xd6", "碁銹裏墻恒粧嫺"),
    "eucjpms": {
        **_PRIVATE,
        **_run(
            b"\xad\xa1",
            "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ\ufffe㍉㌔㌢㍍㌘㌧㌃㌶㍑㍗㌍㌦㌣㌫㍊㌻㎜㎝㎞㎎㎏㏄㎡\ufffe\ufffe\ufffe\ufffe\ufffe"
            "\ufffe\ufffe\ufffe㍻〝〟№㏍℡㊤㊥㊦㊧㊨㈱㈲㈹㍾㍽㍼≒≡∫∮∑√⊥∠∟⊿∵∩∪",
        ),
        **_run(
            b"\x8f\xf3\xf3",
            "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ＇＂㈱№℡炻仼僴凬匇匤﨎咊坙﨏塚增寬峵嵓﨑德悅愠敎昻晥晴朗栁﨓﨔橫櫢淸淲瀨凞猪甁皂皞益礰礼神祥福竧靖精綠緖羽荢﨟薰蘒﨡蠇諸譿賴赶﨣﨤逸郞都鄕"
            "﨧﨨閒隆﨩霻靍靑飯飼館馞髙魲鶴黑",
        ),
    },
    "latin1": {bytes([byte]): chr(byte) for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)},
    "tis620": dict.fromkeys((bytes([byte]) for byte in b"\xa0\xdb\xdc\xdd\xde\xfc\xfd\xfe\xff"), "\ufffd"),
    "ujis": _PRIVATE,
}
