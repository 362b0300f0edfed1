/**
 * SHA-256 of receipts from local/bench/receipt-samples.ts as PDF. Node and workerd both are held to them, so they make the same
 * bytes; who changes the look of a receipt, or a font, changes every receipt that was handed out, and knows it by these.
 */
export const RECEIPT_BYTES: Record<string, string> = {
  plain: 'c9f8356921742da45e82f670a708a3b832f62d3d245d535db6fcaff950855542',
  branded: 'f0f376e785f5678ee60bbf1b9579f36673662b138615c18b6f875588e033eb1b',
  japanese: 'eddb81c9490ac8d85ad1be9eb29e1ab0851a6d29bcad574463625ded2002fcc3',
  arabic: 'e693b4841e7915bb088b2ed9dddf40f65e5da62b6808ea9761bf32482b601f9e',
  'many-scripts': '2da2bd2b3a52b1afc5ba379b3dbc3a40c41716020ea4837850ee0a0b933faaeb',
  'invoice-50-lines': 'bf6aabe98417ab01468def2d07adc4b2d11f611a12ecaaaa2748002f6582049f',
};
