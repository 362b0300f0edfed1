export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function toBase58(bytes: Uint8Array): string {
  let value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = '';
  for (; value > 0n; value /= 58n) text = ALPHABET[Number(value % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text;
}

export function fromBase58(text: string): Uint8Array<ArrayBuffer> | null {
  let value = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return null;
    value = value * 58n + BigInt(digit);
  }
  const bytes: number[] = [];
  for (; value > 0n; value >>= 8n) bytes.unshift(Number(value & 255n));
  const zeros = [...text].findIndex((character) => character !== '1');
  return Uint8Array.from([...new Array(zeros < 0 ? text.length : zeros).fill(0), ...bytes]);
}

const SIGNATURE_BYTES = 64;

/** Transaction signature: the first signature, after the count byte. Null if unsigned. */
export function signatureOf(transaction: Uint8Array): string | null {
  const signature = transaction.slice(1, 1 + SIGNATURE_BYTES);
  return signature.length === SIGNATURE_BYTES && signature.some((byte) => byte !== 0) ? toBase58(signature) : null;
}
