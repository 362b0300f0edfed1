import { drawCode, type QrCode } from '../../parts/qr.ts';

let drawn: { text: string; code: QrCode } | null = null;

/** The code of a payment: drawn once for a text, not every second. */
export function drawQrCode(text: string): QrCode {
  drawn = drawn?.text === text ? drawn : { text, code: drawCode(text, 'L') };
  return drawn.code;
}
