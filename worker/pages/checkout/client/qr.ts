import { encode } from 'uqr';

export interface QrCode {
  size: number;
  path: string;
}

let drawn: { text: string; code: QrCode } | null = null;

/** The code as one path, so that it scales and prints; dark on light whatever the page's scheme. Drawn once for a text, not every second. */
export function drawQrCode(text: string): QrCode {
  if (drawn?.text === text) return drawn.code;
  const { data, size } = encode(text, { ecc: 'L', border: 2 });
  let path = '';
  for (const [y, row] of data.entries()) {
    for (let x = 0; x < row.length; x++) {
      const from = x;
      while (row[x]) x++;
      if (x > from) path += `M${from} ${y}h${x - from}v1H${from}z`;
    }
  }
  drawn = { text, code: { size, path } };
  return drawn.code;
}
