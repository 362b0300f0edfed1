/**
 * SHA-256 of receipts from local/bench/receipt-samples.ts as PDF. Node and workerd both are held to them, so they make the same
 * bytes; who changes the look of a receipt, or a font, changes every receipt that was handed out, and knows it by these.
 */
export const RECEIPT_BYTES: Record<string, string> = {
  plain: '09c6fb3a575ef57c5ae9e9475eadd4d3cc9acea5e424f79b313cb92ca203ff5a',
  branded: '2a7591562d5040b6d9480b7e6abdf39447dfe047cd343b685e4f7c81a490031e',
  japanese: '9598c8b1c15d6fb0af9051ccd6756f4fe824845df38080809a6d6e2abc304b7b',
  arabic: '2abdab7474e40d025daf2eabc8fc67b4a8f64287a05306de3285f043fb301ab3',
  'many-scripts': '3445d146732f3b99c519c57fbfcecea640488b718e46fb94af120931a3eec756',
  'invoice-50-lines': '967d9596ef48ac8076b50ec882cddadaf7acdea2f5fdaff9884b62a6a25cbcca',
};
