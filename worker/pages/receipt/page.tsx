import { iso } from '#core/time.ts';
import { verifyReceipt } from '#features/receipts/document.ts';
import { proofPageOf } from '#features/receipts/papers/paper.ts';
import type { Receipt } from '#features/receipts/receipt.ts';
import type { ReceiptDocument } from '#papers/facts.ts';
import { PAGE_ASSETS } from '../assets.ts';
import { type PageContext, sendPage } from '../document.tsx';
import { Address, Mark, Row, sizeOf, TestMoney } from '../parts/parts.tsx';
import { explorerUrl, formatInstant, formatMoney, formatNumber, plain, plainName } from '../parts/text.ts';
import { Linked, NETWORK_OF, Papers, proofFacts, SendProof, type ShownReceipt } from './papers.tsx';

interface Proof extends ShownReceipt {
  /** Known to be the seller's by now, whatever it was when the receipt was signed; null: none is. */
  sellerDomain: string | null;
  verdict: ReturnType<typeof verifyReceipt>;
}

/** `/r/{receipt_id}`: the public proof, checked now, and how to check it without us. */
export function sendReceipt(
  page: PageContext,
  receipt: Receipt,
  { isOrphaned, sellerDomain, authorizationId }: { isOrphaned: boolean; sellerDomain: string | null; authorizationId: string | null },
): Response {
  const { config } = page.c.var.ctx;
  const verdict = verifyReceipt({ ...receipt, isOrphaned }, config.RECEIPT_KEYS);
  const proof: Proof = { page, sellerDomain, receipt, document: JSON.parse(receipt.document) as ReceiptDocument, verdict };
  const { say } = page;
  return sendPage(
    page,
    {
      title: `${say('rTitle')} · ${plainName(proof.document.product_name)}`,
      layout: 'receipt',
      scripts: [PAGE_ASSETS.receipt],
      facts: {
        document: receipt.document,
        sha256: receipt.sha256,
        signature: receipt.signature,
        keyId: receipt.keyId,
        valid: say('rBrowserValid'),
        invalid: say('rBrowserInvalid'),
        proof: proofFacts(page, receipt),
      },
    },
    <main class="sheet">
      <Verdict {...proof} />
      <Sum {...proof} />
      <Parties {...proof} />
      {authorizationId && (
        <a class="button" href={`/s/${authorizationId}?locale=${page.locale}`}>
          {say('rSubscription')}
        </a>
      )}
      <Papers {...proof} />
      <SendProof {...proof} />
      <Traces {...proof} />
      <How {...proof} />
      <p class="address-of-page">{proofPageOf(page.c.var.ctx, receipt)}</p>
    </main>,
  );
}

function Verdict({ page, document, verdict }: Proof) {
  const { say, locale, c } = page;
  const isTest = !document.livemode || NETWORK_OF[document.network] !== 'mainnet';
  const help = verdict.valid ? 'rValidHelp' : verdict.reason === 'transaction_orphaned' ? 'rOrphaned' : 'rBroken';
  return (
    <div class={verdict.valid ? 'verdict good' : 'verdict bad'} role="status">
      <Mark kind={verdict.valid ? 'done' : 'failed'} />
      <div>
        <div class="verdict-title">
          <h1>{say(verdict.valid ? 'rValid' : 'rInvalid')}</h1>
          {isTest && <TestMoney say={say} />}
        </div>
        <p>{say(help)}</p>
        <p id="browser-verdict" />
        <p class="quiet">{say('rChecked', { time: formatInstant(locale, iso(c.var.ctx.now), 'UTC') })}</p>
      </div>
    </div>
  );
}

function Sum({ page, document }: Proof) {
  const { say, locale } = page;
  const digits = formatNumber(locale, document.amount);
  return (
    <div class="price">
      <p class="quiet">{say('rTitle')}</p>
      <h2>
        <bdi>{plainName(document.product_name)}</bdi>
      </h2>
      <p class={sizeOf(digits)}>
        {digits}
        <span>{`\u00a0${document.amount.asset}`}</span>
      </p>
      {!document.livemode && <p>{say('rTest')}</p>}
    </div>
  );
}

/** Who paid whom, and when. */
function Parties({ page, document, sellerDomain }: Proof) {
  const { say, locale } = page;
  return (
    <dl class="facts">
      <Row name={say('rSeller')}>
        <bdi>{say('quoted', { name: plainName(document.merchant.display_name) })}</bdi>
      </Row>
      {sellerDomain && <Row name={say('sellerDomain')}>{sellerDomain}</Row>}
      <Row name={say('rPaidAt')}>{formatInstant(locale, document.block_time, 'UTC')}</Row>
      {document.fee && <Row name={say('rFee')}>{formatMoney(locale, document.fee)}</Row>}
      {document.price_quote && (
        <Row name={say('rRate')} isWide>
          {say('rRateOf', {
            price: formatMoney(locale, document.price_quote.price),
            rate: formatMoney(locale, { asset: 'USDC', amount: document.price_quote.rate }),
            asset: 'SOL',
            source: plain(document.price_quote.source),
            time: formatInstant(locale, document.price_quote.as_of, 'UTC'),
          })}
        </Row>
      )}
      <Row name={say('rPayer')} isWide>
        <Address address={document.payer} />
      </Row>
      <Row name={say('rRecipient')} isWide>
        <Address address={document.recipient} />
      </Row>
    </dl>
  );
}

/** Where a reader finds the payment outside this service. */
function Traces({ page, document }: Proof) {
  const { say } = page;
  const network = NETWORK_OF[document.network];
  return (
    <section class="traces" aria-labelledby="traces">
      <h2 id="traces">{say('rTechnical')}</h2>
      <dl class="facts">
        <Row name={say('network')}>{network ? say(network) : document.network}</Row>
        <Row name={say('memo')}>
          <code>{document.memo}</code>
        </Row>
        <Row name={say('signature')} isWide>
          <code>{document.tx_sig}</code>
        </Row>
        <Row name={say('rReceipt')} isWide>
          <code>{document.receipt_id}</code>
        </Row>
      </dl>
    </section>
  );
}

function How({ page, receipt, document }: Proof) {
  const { say } = page;
  const key = receipt.keyId;
  return (
    <section class="by-yourself" aria-labelledby="how">
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
            <a href={explorerUrl(NETWORK_OF[document.network]!, document.tx_sig)} target="_blank" rel="noopener noreferrer">
              {say('rExplorer')}
            </a>
          </Linked>
        </li>
      </ol>
    </section>
  );
}
