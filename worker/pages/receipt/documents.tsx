import { proofPageOf } from '#features/receipts/pdf/paper.ts';
import type { Receipt } from '#features/receipts/receipt.ts';
import type { ReceiptDocument } from '#pdf/facts.ts';
import { NETWORKS } from '#solana/assets.ts';
import type { PageContext } from '../document.tsx';
import { explorerUrl, plainName } from '../parts/text.ts';
import { PROOF_OUTCOMES, type ProofFacts } from './send-proof.ts';

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

export const proofFacts = ({ locale, say }: PageContext, { id }: Receipt): ProofFacts => ({
  receiptId: id,
  locale,
  texts: Object.fromEntries(Object.entries(PROOF_OUTCOMES).map(([outcome, key]) => [outcome, say(key)])) as ProofFacts['texts'],
});

/** Emails the proof for the seller. The script shows the form if a merchant is signed in in this tab. */
export function SendProof({ page, receipt }: Omit<ShownReceipt, 'document'>) {
  const { say, c } = page;
  const asked = c.req.query('locale') === undefined ? '' : `?locale=${page.locale}`;
  const next = encodeURIComponent(`/r/${receipt.id}${asked}`);
  return (
    <>
      <p class="quiet seller" id="seller-sign-in">
        <Linked text={say('rSold')} name="signIn">
          <a href={`/login${asked}${asked ? '&' : '?'}next=${next}`}>{say('rSignIn')}</a>
        </Linked>
      </p>
      <section class="seller" id="send-proof" aria-labelledby="send-proof-title" hidden>
        <h2 id="send-proof-title">{say('rSendTitle')}</h2>
        <form class="fields" method="post">
          <div class="field">
            <label for="proof-email">{say('rSendTo')}</label>
            <input id="proof-email" name="proof-email" type="email" autocomplete="off" required />
          </div>
          <div class="field">
            <label for="proof-message">{say('rSendMessage')}</label>
            <input id="proof-message" name="proof-message" type="text" autocomplete="off" maxlength={500} />
          </div>
          <button type="submit" class="plain-button">
            {say('rSendButton')}
          </button>
        </form>
        <p id="proof-said" role="status" />
      </section>
    </>
  );
}

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
