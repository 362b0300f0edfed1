import type { MoneyResource } from '#core/money.ts';
import type { InvoiceMetadata, PdfFacts, ReceiptDocument } from './facts.ts';

/** Text of a receipt in reading order, in English. Every text that can be extracted from the PDF comes from here. */
export interface PdfDocument {
  title: string;
  kind: string;
  receiptId: string;
  brand: string;
  marks: Mark[];
  hero: { label: string; amount: string; time: string; product: string; seller: string };
  proof: { url: string; caption: string };
  sections: Section[];
}

export interface Mark {
  name: 'TEST' | 'ORPHANED';
  meaning: string;
}

interface Section {
  title: string;
  rows: Row[];
}

export type Row =
  | { kind: 'fact'; label: string; value: string; isCode?: boolean }
  | { kind: 'parties'; parties: { role: string; lines: string[] }[] }
  | { kind: 'lines'; head: InvoiceLine; lines: InvoiceLine[] }
  | { kind: 'note'; label: string; text: string };

export interface InvoiceLine {
  description: string;
  quantity: string;
  amount: string;
}

const MARKS: Record<Mark['name'], Mark> = {
  TEST: { name: 'TEST', meaning: 'Paid with test money, which is worth nothing.' },
  ORPHANED: { name: 'ORPHANED', meaning: 'The network no longer knows this transaction: this receipt proves no payment.' },
};
const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** `14 November 2023, 22:13:20 UTC`. Without Intl, because its spaces and commas change with the runtime. */
function sayTime(iso: string): string {
  const at = new Date(iso);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}, ${at.toISOString().slice(11, 19)} UTC`;
}

/** `1,234.50 USDC`, for display. The exact decimal is shown below. */
function sayAmount({ asset, amount }: MoneyResource): string {
  const [integer = '', fraction = ''] = amount.split('.');
  const decimals = asset === 'USDC' ? fraction.padEnd(2, '0') : fraction;
  return `${integer.replace(/\B(?=(\d{3})+$)/g, ',')}${decimals && `.${decimals}`} ${asset}`;
}

const exactly = ({ asset, amount }: MoneyResource): string => `${amount} ${asset}`;

const fact = (label: string, value: string): Row => ({ kind: 'fact', label, value });
const code = (label: string, value: string): Row => ({ kind: 'fact', label, value, isCode: true });
const known = (label: string, value: string | undefined): string[] => (value ? [`${label} ${value}`] : []);

function purchase(document: ReceiptDocument, { merchantCopy, subscriptionUrl }: PdfFacts): Section {
  const { amount, price_quote: quote, operator } = document;
  return {
    title: 'Purchase',
    rows: [
      fact('Product', document.product_name),
      fact('Seller', document.merchant.display_name),
      ...(subscriptionUrl ? [fact('Subscription', `${subscriptionUrl} (see or cancel)`)] : []),
      ...(operator ? [fact('Operator', `${operator.name} · ${operator.url}`)] : []),
      ...(quote
        ? [fact('Price', exactly(quote.price)), fact('Exchange rate', `1 SOL = ${quote.rate} USDC as of ${quote.as_of}, ${quote.source}`)]
        : []),
      fact('Amount paid', exactly(amount)),
      ...(merchantCopy ? [fact('Fee', merchantCopy.fee ? exactly(merchantCopy.fee) : 'none'), fact('Net', exactly(merchantCopy.net))] : []),
    ],
  };
}

const payment = (document: ReceiptDocument, { network }: PdfFacts): Section => ({
  title: 'Payment on Solana',
  rows: [
    fact('Network', network ? `${document.network} (${network})` : document.network),
    code('From', document.payer),
    code('To', document.recipient),
    code('Transaction', document.tx_sig),
    code('Memo', document.memo),
    fact('Block time', `${document.block_time}, slot ${document.slot}`),
  ],
});

const proof = (document: ReceiptDocument, { sha256, signature, keyId, proofUrl }: PdfFacts): Section => ({
  title: 'Proof',
  rows: [
    code('Receipt id', document.receipt_id),
    code('Product id', document.product_id),
    code('Seller id', document.merchant.account_id),
    fact('Amount in base units', document.amount.base_units),
    ...(document.price_quote ? [fact('Price in base units', document.price_quote.price.base_units)] : []),
    fact('Issued', `${document.issued_at}, document version ${document.version}`),
    code('SHA-256', sha256),
    code('Signature', signature),
    code('Key id', keyId),
    fact('Public proof', proofUrl),
  ],
});

function invoice(metadata: InvoiceMetadata): Section[] {
  const { seller, bill_to: buyer, lines = [], tax, notes } = metadata;
  const table = [...lines, ...(tax ? [taxLine(tax)] : [])];
  const parties = [
    {
      role: 'Details',
      lines: [
        ...known('Number', metadata.invoice_number),
        ...known('Reference', metadata.reference),
        ...known('Issued on', metadata.issued_on),
        ...known('Due on', metadata.due_on),
      ],
    },
    { role: 'From', lines: partyLines(seller) },
    { role: 'Billed to', lines: partyLines(buyer) },
  ].filter((party) => party.lines.length > 0);
  const rows: Row[] = [
    ...(parties.length > 0 ? [{ kind: 'parties' as const, parties }] : []),
    ...(table.length > 0
      ? [{ kind: 'lines' as const, head: { description: 'Description', quantity: 'Quantity', amount: 'Amount' }, lines: table }]
      : []),
    ...(notes ? [{ kind: 'note' as const, label: 'Notes', text: notes }] : []),
  ];
  return rows.length > 0 ? [{ title: 'Invoice', rows }] : [];
}

const partyLines = (party: InvoiceMetadata['seller']): string[] => [
  ...(party?.name ? [party.name] : []),
  ...(party?.address?.split(/\r\n|[\r\n]/).filter((line) => line.trim() !== '') ?? []),
  ...(party?.email ? [party.email] : []),
  ...known('Tax id', party?.tax_id),
];

const taxLine = ({ label, rate_percent: rate, amount }: NonNullable<InvoiceMetadata['tax']>): InvoiceLine => ({
  description: [label ?? 'Tax', ...(rate ? [`${rate} %`] : [])].join(' '),
  quantity: '',
  amount: amount ?? '',
});

/** Builds the PDF's content. Money of any network but mainnet is marked as test money, whatever the mode. Pure. */
export function pdfDocumentOf(facts: PdfFacts): PdfDocument {
  const document = JSON.parse(facts.document) as ReceiptDocument;
  const isTest = !document.livemode || facts.network !== 'mainnet';
  return {
    title: `Receipt ${document.receipt_id}`,
    kind: facts.merchantCopy ? 'Receipt · merchant’s copy' : 'Receipt',
    receiptId: document.receipt_id,
    brand: facts.brand.name,
    marks: [...(facts.isOrphaned ? [MARKS.ORPHANED] : []), ...(isTest ? [MARKS.TEST] : [])],
    hero: {
      label: 'Amount paid',
      amount: sayAmount(document.amount),
      time: sayTime(document.block_time),
      product: document.product_name,
      seller: document.merchant.display_name,
    },
    proof: { url: facts.proofUrl, caption: 'Scan to check' },
    sections: [
      ...invoice(facts.merchantCopy?.invoice ?? facts.buyerCopy ?? {}),
      purchase(document, facts),
      payment(document, facts),
      proof(document, facts),
    ],
  };
}
