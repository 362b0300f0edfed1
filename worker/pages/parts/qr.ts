import { encode } from 'uqr';

export interface QrCode {
  size: number;
  path: string;
}

/** Draws a code as one SVG path. Error correction `L` for dense codes on a screen, `M` for print. */
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

export function drawQrCode(text: string): QrCode {
  drawn = drawn?.text === text ? drawn : { text, code: drawCode(text, 'L') };
  return drawn.code;
}
