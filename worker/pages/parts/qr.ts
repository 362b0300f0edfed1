import { encode } from 'uqr';

export interface QrCode {
  size: number;
  path: string;
}

/** A code as one path, so that it scales and prints. `L` for what is dense and shown on a screen, `M` for what is printed. */
export function drawCode(text: string, ecc: 'L' | 'M'): QrCode {
  const { data, size } = encode(text, { ecc, border: 2 });
  let path = '';
  for (const [y, row] of data.entries()) {
    for (let x = 0; x < row.length; x++) {
      const from = x;
      while (row[x]) x++;
      if (x > from) path += `M${from} ${y}h${x - from}v1H${from}z`;
    }
  }
  return { size, path };
}

let drawn: { text: string; code: QrCode } | null = null;

/** The code of a text as a screen shows it: drawn once for it, not with every change of the page. */
export function drawQrCode(text: string): QrCode {
  drawn = drawn?.text === text ? drawn : { text, code: drawCode(text, 'L') };
  return drawn.code;
}
