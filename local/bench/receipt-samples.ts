import { sha256Hex } from '#core/crypto.ts';
import { base58, utf8 } from '#core/encoding.ts';
import type { InvoiceMetadata, PdfFacts, ReceiptDocument } from '#pdf/facts.ts';
import { NETWORKS } from '../../worker/solana/assets.ts';
import { pngOf } from './png.ts';

/** Deterministic receipts of every kind, for the bench and for visual checks after a change of the PDF. */
const bytes = (fill: number, length: number): string => base58.encode(new Uint8Array(length).fill(fill));

const DOCUMENT: ReceiptDocument = {
  version: '2',
  receipt_id: '0197a3c0-1f2e-7b3a-9c4d-5e6f708192a3',
  tx_sig: bytes(251, 64),
  network: NETWORKS.mainnet.caip2,
  slot: 354_112_907,
  block_time: '2026-11-14T22:13:20.000Z',
  payer: bytes(77, 32),
  recipient: bytes(131, 32),
  amount: { asset: 'USDC', amount: '1234.5', base_units: '1234500000' },
  product_id: '0197a3c0-1f2e-7000-8000-00000000002a',
  product_name: 'Weather API, 1,000 calls',
  merchant: { account_id: '0197a3c0-1f2e-7000-8000-00000000003b', display_name: 'Ada’s weather' },
  memo: 'svc:9xQeWvG816bUx9EPjHmaT2',
  issued_at: '2026-11-14T22:13:27.412Z',
  livemode: true,
  operator: { name: 'Example Operator', url: 'https://pay.example.com' },
};

export function receiptFacts(document: Partial<ReceiptDocument> = {}, facts: Partial<PdfFacts> = {}): PdfFacts {
  const text = JSON.stringify({ ...DOCUMENT, ...document });
  return {
    document: text,
    sha256: sha256Hex(utf8(text)),
    signature: bytes(203, 64),
    keyId: 'b6d94cf6d2f1a7c0',
    proofUrl: `https://pay.example.com/r/${document.receipt_id ?? DOCUMENT.receipt_id}`,
    network: { ...DOCUMENT, ...document }.network === NETWORKS.mainnet.caip2 ? 'mainnet' : 'devnet',
    isOrphaned: false,
    brand: { name: document.merchant?.display_name ?? DOCUMENT.merchant.display_name },
    ...facts,
  };
}

export const invoiceOf = (lines: number): InvoiceMetadata => ({
  invoice_number: 'INV-2026-0042',
  reference: 'Purchase order 77/B',
  issued_on: '2026-11-15',
  due_on: '2026-11-29',
  seller: { name: 'Ada’s weather OÜ', address: 'Pikk 12\n10123 Tallinn\nEstonia', tax_id: 'EE102345678' },
  bill_to: {
    name: 'Kwame & Söhne GmbH',
    address: 'Schönhauser Allee 7\n10119 Berlin\nGermany',
    email: 'rechnung@kwame.example',
    tax_id: 'DE123456789',
  },
  lines: Array.from({ length: lines }, (_, index) => ({
    description:
      index === 3
        ? 'Historical data for stations in the high north, hourly, with corrections and their reasons'
        : `Weather calls, batch ${index + 1}`,
    quantity: String((index + 1) * 10),
    amount: `${(index + 1) * 3}.50`,
  })),
  tax: { label: 'VAT', rate_percent: '19', amount: '197.10' },
  notes: 'Thank you for your order.\nQuestions: billing@ada.example',
});

const merchantCopy = (invoice?: InvoiceMetadata): Partial<PdfFacts> => ({
  merchantCopy: {
    fee: { asset: 'USDC', amount: '12.345', base_units: '12345000' },
    net: { asset: 'USDC', amount: '1222.155', base_units: '1222155000' },
    ...(invoice ? { invoice } : {}),
  },
});

/** Draws a sun on a transparent background, 200 pixels square. */
function sun(): Uint8Array {
  const side = 200;
  const rows: number[] = [];
  for (let y = 0; y < side; y++) {
    rows.push(0);
    for (let x = 0; x < side; x++) {
      const [dx, dy] = [x - side / 2 + 0.5, y - side / 2 + 0.5];
      const distance = Math.hypot(dx, dy);
      const ray = Math.cos(Math.atan2(dy, dx) * 12) > 0.2 && distance > 62 && distance < 96;
      rows.push(245, 158 - Math.round(distance), 11, distance < 54 || ray ? 255 : 0);
    }
  }
  return pngOf({ width: side, height: side, depth: 8, colourType: 6 }, rows);
}

const LONG_NAME =
  'Comprehensive meteorological observations, forecasts and climate reanalysis for every inhabited place on Earth, delivered hourly by API, with archive since 1940';
const named = (product_name: string, display_name: string): Partial<ReceiptDocument> => ({
  product_name,
  merchant: { account_id: DOCUMENT.merchant.account_id, display_name },
});

export const RECEIPT_SAMPLES: Record<string, PdfFacts> = {
  plain: receiptFacts({ version: '1', operator: undefined }),
  quoted: receiptFacts({
    amount: { asset: 'SOL', amount: '0.033022741', base_units: '33022741' },
    price_quote: {
      price: { asset: 'USDC', amount: '5', base_units: '5000000' },
      rate: '151.4205',
      source: 'https://hermes.pyth.network',
      as_of: '2026-11-14T22:12:58.000Z',
    },
  }),
  branded: receiptFacts({}, { brand: { name: 'Bright Skies', logo: sun(), accent: '#f59e0b' } }),
  'long-names': receiptFacts(
    named(LONG_NAME, 'The Royal and Ancient Society for the Observation of Clouds, Winds and Rain (Reykjavík, Þórshöfn & Łódź)'),
  ),
  'many-scripts': receiptFacts(named('Ελληνικά Кириллица Tiếng Việt Yorùbá ọ̀rọ̀ ǅ ₿ №', 'Αθήνα · Київ · Hà Nội · Łódź · Հայերեն · ქართული')),
  japanese: receiptFacts(named('東京の天気データ サービス（一時間ごと、全国の観測所）', '株式会社あおぞら気象')),
  chinese: receiptFacts(named('全国天气预报接口，每月一千次调用', '晴天科技有限公司')),
  korean: receiptFacts(named('전국 날씨 데이터 구독, 월 1,000회', '맑은하늘 주식회사')),
  arabic: receiptFacts(named('خدمة بيانات الطقس (API) 1,000 طلب', 'شركة السماء الصافية')),
  hebrew: receiptFacts(named('שירות נתוני מזג אוויר (API), 1,000 קריאות', 'שמיים בהירים בע"מ')),
  emoji: receiptFacts(named('Wetter "für" alle ☀️🌧 👨‍👩‍👧 🇩🇪', '✨ Sunny ✨ ไทย')),
  hostile: receiptFacts(
    named(
      '<b>Free</b>\r\nPAID\u202eDIAP\u200b \ud800 %PDF-1.7 ) Tj ET /JS (app.alert(1)) \\',
      '\u2066Ada\u2069\u0000\u00ad\ufeff<script>alert(1)</script>',
    ),
  ),
  test: receiptFacts({ livemode: false, network: NETWORKS.devnet.caip2 }),
  orphaned: receiptFacts({ livemode: false, network: NETWORKS.devnet.caip2 }, { isOrphaned: true }),
  'merchant-copy': receiptFacts({}, merchantCopy()),
  invoice: receiptFacts({}, merchantCopy(invoiceOf(5))),
  'invoice-50-lines': receiptFacts({}, merchantCopy(invoiceOf(50))),
};
