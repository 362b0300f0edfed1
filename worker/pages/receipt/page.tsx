import { iso } from '#core/time.ts';
import { verifyReceipt } from '#features/receipts/document.ts';
import { proofPageOf } from '#features/receipts/pdf/paper.ts';
import type { Receipt } from '#features/receipts/receipt.ts';
import type { ReceiptDocument } from '#pdf/facts.ts';
import type { MerchantSettings } from '#platform/db/tables/accounts.ts';
import { PAGE_ASSETS } from '../assets.ts';
import { httpsUrl } from '../checkout/listing.tsx';
import { type PageContext, sendPage } from '../document.tsx';
import { Address, Mark, Row, sizeOf, TestMoney } from '../parts/parts.tsx';
import { explorerUrl, formatInstant, formatMoney, formatNumber, plain, plainName } from '../parts/text.ts';
import { Linked, NETWORK_OF, ReceiptActions, SellerLine, type ShownReceipt } from './documents.tsx';

/** Facts of the purchase that the signed document does not hold. */
interface Purchased {
  isOrphaned: boolean;
  /** Domain that is verified now, not at the time of signing. */
  sellerDomain: string | null;
  authorizationId: string | null;
  accessUntil: string | null;
  brand: MerchantSettings;
}

interface Proof extends ShownReceipt, Purchased {
  verdict: ReturnType<typeof verifyReceipt>;
}

/** `/r/{receipt_id}`: the public proof, verified on each request, and how to verify it independently. */
export function sendReceipt(page: PageContext, receipt: Receipt, purchased: Purchased): Response {
  const { config } = page.c.var.ctx;
  const verdict = verifyReceipt({ ...receipt, isOrphaned: purchased.isOrphaned }, config.RECEIPT_KEYS);
  const document = JSON.parse(receipt.document) as ReceiptDocument;
  // A plan is sold by the service, so its receipt does not carry the buyer account's brand.
  const brand = document.merchant.account_id === receipt.merchantId ? purchased.brand : {};
  const proof: Proof = { ...purchased, brand, page, receipt, document, verdict };
  const { say } = page;
  return sendPage(
    page,
    {
      title: `${say('rTitle')} · ${plainName(proof.document.product_name)}`,
      layout: 'receipt',
      ...(brand.checkout_accent_hex ? { accentHex: brand.checkout_accent_hex } : {}),
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
      <Sum {...proof} />
      {!verdict.valid && <Verdict {...proof} />}
      <Parties {...proof} />
      <Ways {...proof} />
      {verdict.valid && <Verdict {...proof} />}
      <ReceiptActions {...proof} />
      <SellerLine {...proof} />
      <p class="address-of-page">{proofPageOf(page.c.var.ctx, receipt)}</p>
    </main>,
  );
}

function Ways({ page: { say, locale }, authorizationId, brand }: Proof) {
  const support = httpsUrl(brand.default_support_url);
  return (
    <div class="papers">
      {authorizationId && (
        <a class="button" href={`/s/${authorizationId}?locale=${locale}`}>
          {say('rSubscription')}
        </a>
      )}
      {support && (
        <a class="plain-button" href={support} target="_blank" rel="noopener noreferrer nofollow">
          {say('support')} ({new URL(support).host})
        </a>
      )}
      <a class="plain-button" href={`/me?locale=${locale}`}>
        {say('purchases')}
      </a>
    </div>
  );
}

/** Verdict in one line with the proof folded below. An invalid receipt shows the proof at once. */
function Verdict(proof: Proof) {
  const { page, document, verdict } = proof;
  const { say, locale, c } = page;
  const isTest = !document.livemode || NETWORK_OF[document.network] !== 'mainnet';
  const help = verdict.valid ? 'rValidHelp' : verdict.reason === 'transaction_orphaned' ? 'rOrphaned' : 'rBroken';
  return (
    <details class={verdict.valid ? 'verdict good' : 'verdict bad'} open={!verdict.valid}>
      <summary>
        <Mark kind={verdict.valid ? 'done' : 'failed'} />
        <h2>{say(verdict.valid ? 'rValid' : 'rInvalid')}</h2>
        {isTest && <TestMoney say={say} />}
        {verdict.valid && <span class="how-known">{say('rHowKnown')}</span>}
      </summary>
      <div class="proof">
        <p role="status">{say(help)}</p>
        <p id="browser-verdict" />
        <p class="quiet">{say('rChecked', { time: formatInstant(locale, iso(c.var.ctx.now), 'UTC') })}</p>
        <Traces {...proof} />
        <How {...proof} />
      </div>
    </details>
  );
}

function Sum({ page, document, brand }: Proof) {
  const { say, locale } = page;
  const name = plain(brand.checkout_brand_name ?? '') || plainName(document.merchant.display_name);
  const digits = formatNumber(locale, document.amount);
  return (
    <div class="price">
      <p class="quiet">
        {say('rTitle')} · <bdi>{name}</bdi>
      </p>
      <h1>
        <bdi>{plainName(document.product_name)}</bdi>
      </h1>
      <p class={sizeOf(digits)}>
        {digits}
        <span>{`\u00a0${document.amount.asset}`}</span>
      </p>
      {!document.livemode && <p>{say('rTest')}</p>}
    </div>
  );
}

function Parties({ page, document, sellerDomain, accessUntil }: Proof) {
  const { say, locale } = page;
  return (
    <dl class="facts">
      <Row name={say('rSeller')}>
        <bdi>{say('quoted', { name: plainName(document.merchant.display_name) })}</bdi>
      </Row>
      {sellerDomain && <Row name={say('sellerDomain')}>{sellerDomain}</Row>}
      <Row name={say('rPaidAt')}>{formatInstant(locale, document.block_time, 'UTC')}</Row>
      {accessUntil && <Row name={say('rAccess')}>{formatInstant(locale, accessUntil, 'UTC')}</Row>}
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
