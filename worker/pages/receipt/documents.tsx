import { proofPageOf } from '#features/receipts/pdf/paper.ts';
import type { Receipt } from '#features/receipts/receipt.ts';
import type { ReceiptDocument } from '#pdf/facts.ts';
import { NETWORKS } from '#solana/assets.ts';
import type { PageContext } from '../document.tsx';
import { explorerUrl, plainName } from '../parts/text.ts';

export const NETWORK_OF: Record<string, 'mainnet' | 'devnet'> = { [NETWORKS.mainnet.caip2]: 'mainnet', [NETWORKS.devnet.caip2]: 'devnet' };

export interface ShownReceipt {
  page: PageContext;
  receipt: Receipt;
  document: ReceiptDocument;
}

export function ReceiptActions({ page, receipt, document }: ShownReceipt) {
  const { say, c } = page;
  const subject = say('rEmailSubject', { product: plainName(document.product_name) });
  return (
    <div class="papers">
      {/* Shown by the script that prints. */}
      <button type="button" class="plain-button" id="print" hidden>
        {say('rPrint')}
      </button>
      <a class="plain-button" href={`/v1/receipt/${receipt.id}/pdf`}>
        {say('rPdf')}
      </a>
      <a class="plain-button" href={mailto(subject, proofPageOf(c.var.ctx, receipt))}>
        {say('rEmail')}
      </a>
      <a class="plain-button" href={explorerUrl(NETWORK_OF[document.network]!, document.tx_sig)} target="_blank" rel="noopener noreferrer">
        {say('rExplore')}
      </a>
    </div>
  );
}

const mailto = (subject: string, body: string): string => `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(body)}`;

/** Line for the seller. The receipt's screen in the dashboard emails its proof. */
export const SellerLine = ({ page: { say }, receipt }: Omit<ShownReceipt, 'document'>) => (
  <p class="quiet seller">
    <Linked text={say('rSold')} name="signIn">
      <a href={`/dashboard/receipts/${receipt.id}${receipt.livemode ? '' : '?mode=sandbox'}`}>{say('rSignIn')}</a>
    </Linked>
  </p>
);

/** Sentence with a link in it, in the order of the language. */
export function Linked({ text, name, children }: { text: string; name: string; children: unknown }) {
  const [before = '', after = ''] = text.split(`{${name}}`);
  return (
    <>
      {before}
      {children}
      {after}
    </>
  );
}
