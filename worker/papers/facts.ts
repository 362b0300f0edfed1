import type { MoneyResource } from '#core/money.ts';

/** The signed document, as it is stored. Version 2 adds `price_quote` and `operator`. */
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

interface Party {
  name?: string;
  address?: string;
  email?: string;
  tax_id?: string;
}

/** What a merchant wrote to a receipt. It belongs to no signed document and to no public paper. */
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

export interface PaperFacts {
  /** The stored text of the signed document; what is shown is read from it and from nothing else. */
  document: string;
  /** Hex of the document's bytes. */
  sha256: string;
  /** Ed25519 over them, base58. */
  signature: string;
  keyId: string;
  /** The public page that proves the receipt: ours, never a merchant's. */
  proofUrl: string;
  /** Page where the buyer cancels the subscription that was paid for. */
  subscriptionUrl?: string;
  /** Our name of the document's network; null for one we do not know. */
  network: 'mainnet' | 'devnet' | null;
  /** The chain no longer knows the transaction. */
  isOrphaned: boolean;
  brand: {
    name: string;
    /** PNG or JPEG; anything else is left out. */
    logo?: Uint8Array;
    /** `#rrggbb`, the line along the top; none without it. */
    accent?: string;
  };
  /** Only in the merchant's own copy. */
  merchantCopy?: { fee: MoneyResource | null; net: MoneyResource; invoice?: InvoiceMetadata };
}
