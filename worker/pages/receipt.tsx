import { iso } from '../core/time.ts';
import { verifyReceipt } from '../receipts/document.ts';
import type { Receipt } from '../receipts/receipt.ts';
import { PAGE_ASSETS } from './assets.ts';
import { type PageContext, sendPage } from './document.tsx';
import { NETWORK_OF } from './networks.ts';
import { Mark } from './view/parts.tsx';
import { formatInstant, formatMoney, plain } from './view/text.ts';

/** What the signed document says, as its schema promises. */
interface Document {
  receipt_id: string;
  tx_sig: string;
  network: string;
  block_time: string;
  issued_at: string;
  payer: string;
  recipient: string;
  amount: { asset: string; amount: string };
  fee?: { asset: string; amount: string };
  product_name: string;
  merchant: { display_name: string };
  memo: string;
  livemode: boolean;
}

interface Proof {
  page: PageContext;
  receipt: Receipt;
  document: Document;
  verdict: ReturnType<typeof verifyReceipt>;
}

/** `/r/{receipt_id}`: the public proof, checked now, and how to check it without us. */
export function sendReceipt(page: PageContext, receipt: Receipt, isOrphaned: boolean): Response {
  const { config } = page.c.var.ctx;
  const verdict = verifyReceipt({ ...receipt, isOrphaned }, config.RECEIPT_KEYS);
  const proof: Proof = { page, receipt, document: JSON.parse(receipt.document) as Document, verdict };
  const { say } = page;
  return sendPage(
    page,
    {
      title: `${say('rTitle')} · ${plain(proof.document.product_name)}`,
      layout: 'receipt',
      scripts: [PAGE_ASSETS.receipt],
      facts: {
        document: receipt.document,
        sha256: receipt.sha256,
        signature: receipt.signature,
        keyId: receipt.keyId,
        valid: say('rBrowserValid'),
        invalid: say('rBrowserInvalid'),
      },
    },
    <main class="sheet">
      <Verdict {...proof} />
      <Sum {...proof} />
      <Particulars {...proof} />
      <How {...proof} />
    </main>,
  );
}

function Verdict({ page, verdict }: Proof) {
  const { say, locale, c } = page;
  const help = verdict.valid ? 'rValidHelp' : verdict.reason === 'transaction_orphaned' ? 'rOrphaned' : 'rBroken';
  return (
    <div class={verdict.valid ? 'verdict good' : 'verdict bad'} role="status">
      <Mark kind={verdict.valid ? 'done' : 'failed'} />
      <div>
        <h1>{say(verdict.valid ? 'rValid' : 'rInvalid')}</h1>
        <p>{say(help)}</p>
        <p id="browser-verdict" />
        <p class="quiet">{say('rChecked', { time: formatInstant(locale, iso(c.var.ctx.now), 'UTC') })}</p>
      </div>
    </div>
  );
}

function Sum({ page, document }: Proof) {
  return (
    <div>
      <h2 class="bought">
        {page.say('rTitle')} · <bdi>{plain(document.product_name)}</bdi>
      </h2>
      <p class="amount">{formatMoney(page.locale, document.amount)}</p>
      {!document.livemode && <p>{page.say('rTest')}</p>}
    </div>
  );
}

function Particulars({ page, document }: Proof) {
  const { say, locale } = page;
  const network = NETWORK_OF[document.network];
  const rows: [string, string, 'wide' | 'mono' | ''][] = [
    [say('rSeller'), plain(document.merchant.display_name), ''],
    [say('rPaidAt'), formatInstant(locale, document.block_time, 'UTC'), ''],
    ...(document.fee ? [[say('rFee'), formatMoney(locale, document.fee), ''] as [string, string, '']] : []),
    [say('network'), network ? say(network) : document.network, ''],
    [say('rPayer'), document.payer, 'wide'],
    [say('rRecipient'), document.recipient, 'wide'],
    [say('signature'), document.tx_sig, 'wide'],
    [say('memo'), document.memo, 'wide'],
    [say('rReceipt'), document.receipt_id, 'wide'],
  ];
  return (
    <dl class="facts">
      {rows.map(([name, value, kind]) => (
        <div class={kind}>
          <dt>{name}</dt>
          <dd class={kind === 'wide' ? 'mono' : ''}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A sentence with a link in it, whatever the order of words in the language. */
function Linked({ text, name, children }: { text: string; name: string; children: unknown }) {
  const [before = '', after = ''] = text.split(`{${name}}`);
  return (
    <>
      {before}
      {children}
      {after}
    </>
  );
}

function How({ page, receipt, document }: Proof) {
  const { say } = page;
  const cluster = NETWORK_OF[document.network] === 'devnet' ? '?cluster=devnet' : '';
  const key = receipt.keyId;
  return (
    <section aria-labelledby="how">
      <h2 id="how">{say('rHow')}</h2>
      <ol class="how">
        <li>
          <Linked text={say('rHow1')} name="document">
            <a href={`/v1/receipt/${receipt.id}/public`}>{say('rDocument')}</a>
          </Linked>
        </li>
        <li>
          {say('rHow2')} <code>{receipt.sha256}</code>
        </li>
        <li>
          <Linked text={say('rHow3', { key })} name="keys">
            <a href="/.well-known/svc-receipt-keys.json">{say('rKeys')}</a>
          </Linked>{' '}
          <code>{receipt.signature}</code>
        </li>
        <li>
          <Linked text={say('rHow4')} name="explorer">
            <a href={`https://explorer.solana.com/tx/${document.tx_sig}${cluster}`} target="_blank" rel="noopener noreferrer">
              {say('rExplorer')}
            </a>
          </Linked>
        </li>
      </ol>
    </section>
  );
}
