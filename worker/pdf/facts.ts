import type { MoneyResource } from '#core/money.ts';

/** Signed document as stored. Version 2 adds `price_quote` and `operator`. */
export interface ReceiptDocument {
  version: string;
  receipt_id: string;
  tx_sig: string;
  network: string;
  slot: number;
  block_time: string;
  payer: string;
  recipient: string;
  amount: MoneyResource;
  fee?: MoneyResource;
  product_id: string;
  product_name: string;
  merchant: { account_id: string; display_name: string };
  memo: string;
  issued_at: string;
  livemode: boolean;
  price_quote?: { price: MoneyResource; rate: string; source: string; as_of: string };
  operator?: { name: string; url: string };
}

export interface Party {
  name?: string;
  address?: string;
  email?: string;
  tax_id?: string;
}

/** Invoice data that a merchant added to a receipt. Never part of a signed document or a public PDF. */
export interface InvoiceMetadata {
  invoice_number?: string;
  reference?: string;
  issued_on?: string;
  due_on?: string;
  seller?: Party;
  bill_to?: Party;
  lines?: { description: string; quantity: string; amount: string }[];
  tax?: { label?: string; rate_percent?: string; amount?: string };
  notes?: string;
}

export interface PdfFacts {
  /** Stored text of the signed document, the only source of the facts shown. */
  document: string;
  sha256: string;
  signature: string;
  keyId: string;
  /** Public proof page of this service, never of a merchant. */
  proofUrl: string;
  subscriptionUrl?: string;
  network: 'mainnet' | 'devnet' | null;
  /** The chain no longer has the transaction. */
  isOrphaned: boolean;
  brand: {
    name: string;
    /** PNG or JPEG. Other formats are left out. */
    logo?: Uint8Array;
    /** `#rrggbb` of the line along the top. */
    accent?: string;
  };
  /** Billed party, as this buyer wrote it. */
  buyerCopy?: { bill_to: Party };
  merchantCopy?: { fee: MoneyResource | null; net: MoneyResource; invoice?: InvoiceMetadata };
}
