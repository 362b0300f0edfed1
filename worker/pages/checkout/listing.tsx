import type { Sale } from '#features/products/product.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import type { PageContext } from '../document.tsx';
import { Address, Row, sizeOf, TestMoney } from '../parts/parts.tsx';
import { formatBps, formatCount, formatDollars, formatNumber, formatPeriod, isOne, plain, plainLines, plainName } from '../parts/text.ts';
import type { PageFacts } from './facts.ts';

/** Product and seller: everything a buyer must know, rendered without a script. */
export interface ShownListing {
  page: PageContext;
  sale: Sale;
  facts: PageFacts;
}

export const brandOf = ({ merchant }: Sale): string =>
  plain(merchant.merchantSettings.checkout_brand_name ?? '') || plainName(merchant.displayName);

/** Checks a merchant's link again before rendering. Only https is allowed. */
export const httpsUrl = (text: string | undefined): string | null => {
  const url = text === undefined ? null : URL.parse(text);
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : null;
};

export function Brand({ page, sale }: ShownListing) {
  const logo = httpsUrl(sale.merchant.merchantSettings.checkout_logo_url);
  const hero = httpsUrl(sale.merchant.merchantSettings.checkout_hero_image_url);
  const brand = brandOf(sale);
  const seller = plainName(sale.merchant.displayName);
  return (
    <>
      <div class="brand">
        <span class="letter" aria-hidden="true">
          {[...brand][0]?.toUpperCase()}
          {logo && <img class="logo" src={logo} alt="" width="44" height="44" referrerpolicy="no-referrer" />}
        </span>
        <div>
          <strong>
            <bdi>{brand}</bdi>
          </strong>
          {seller !== brand && <small>{page.say('soldBy', { name: `\u2068${seller}\u2069` })}</small>}
        </div>
      </div>
      {hero && <img class="hero" src={hero} alt="" width="1600" height="700" referrerpolicy="no-referrer" />}
    </>
  );
}

export function Price({ facts, page, sale: { product } }: ShownListing) {
  const periodDays = product.renewalMode === 'AUTOMATIC' ? product.accessPeriodDays : null;
  const digits = formatNumber(facts.locale, facts.price);
  return (
    <div class="price">
      <h1>
        <bdi>{facts.productName}</bdi>
      </h1>
      <p class={sizeOf(digits)}>
        <span class="hidden">{page.say('price')}: </span>
        {digits}
        <span>{`\u00a0${facts.price.asset}`}</span>
        {periodDays !== null && <span>{`/ ${formatPeriod(facts.locale, periodDays, 'day')}`}</span>}
        {facts.network === 'devnet' && <TestMoney say={page.say} />}
      </p>
      {facts.price.asset === 'USDC' && <p class="quiet">{page.say('inDollars', { amount: formatDollars(facts.locale, facts.price) })}</p>}
    </div>
  );
}

/** A longer description is folded, so that it does not hide the panel below. */
const SHORT = { characters: 480, lines: 7 };

function Description({ page, sale }: ShownListing) {
  const lines = plainLines(sale.product.description ?? '');
  if (lines.length === 0) return null;
  const isLong = lines.length > SHORT.lines || lines.join('').length > SHORT.characters;
  return (
    <div class="description">
      {isLong && (
        <details>
          <summary>
            <span class="when-closed">{page.say('more')}</span>
            <span class="when-open">{page.say('less')}</span>
          </summary>
        </details>
      )}
      <div class={isLong ? 'foldable' : ''}>
        {lines.map((line) => (
          <p>{line}</p>
        ))}
      </div>
    </div>
  );
}

/** Account name and paid wallets. No text of the merchant can hide them. */
function Payees({ page: { say }, facts }: ShownListing) {
  const payees = Object.entries(facts.payees);
  const isOneWallet = new Set(Object.values(facts.payees)).size === 1;
  return (
    <div>
      <h2>{say('whoIsPaid')}</h2>
      <dl class="facts">
        <Row name={say('seller')}>
          <bdi>{say('quoted', { name: facts.sellerName })}</bdi>
        </Row>
        {facts.sellerDomain && (
          <Row name={say('sellerDomain')}>
            <bdi>{facts.sellerDomain}</bdi>
          </Row>
        )}
        {(isOneWallet ? payees.slice(0, 1) : payees).map(([asset, wallet]) => (
          <Row name={isOneWallet ? say('wallet') : say('walletFor', { asset })}>
            <Address address={wallet} />
          </Row>
        ))}
        <Row name={say('network')}>{say(facts.network)}</Row>
      </dl>
    </div>
  );
}

export function About(shown: ShownListing) {
  const { page, sale } = shown;
  const { say, locale, c } = page;
  const { FEE_BPS } = c.var.ctx.config;
  const support = httpsUrl(sale.merchant.merchantSettings.default_support_url);
  return (
    <section class="about" aria-label={say('whoIsPaid')}>
      <Description {...shown} />
      <ul class="gets">
        {listBenefits(page, sale).map((line) => (
          <li>{line}</li>
        ))}
      </ul>
      <Payees {...shown} />
      <div class="teaching">
        <div>
          <h2>{say('howItWorks')}</h2>
          <ol class="steps">
            <li>{say('step1')}</li>
            <li>{say('step2')}</li>
            <li>{FEE_BPS > 0 ? say('step3Fee', { percent: formatBps(locale, FEE_BPS) }) : say('step3')}</li>
          </ol>
        </div>
        <p class="quiet">{say('networkCosts')}</p>
      </div>
      <p class="quiet">{say('neverAsk')}</p>
      {support && (
        <p class="quiet">
          <a href={support} target="_blank" rel="noopener noreferrer nofollow">
            {say('support')}
          </a>{' '}
          ({new URL(support).host})
        </p>
      )}
    </section>
  );
}

const listBenefits = (page: PageContext, sale: Sale): string[] => [
  ...listGains(page, sale),
  page.say(sale.product.renewalMode === 'AUTOMATIC' ? 'renews' : sale.product.billingModel === 'recurring' ? 'recurring' : 'oneOff'),
];

export const accessGain = ({ locale, say }: Pick<PageContext, 'locale' | 'say'>, { product: { accessPeriodDays } }: Sale): string | null =>
  accessPeriodDays === null ? null : say('access', { period: formatPeriod(locale, accessPeriodDays, 'day') });

export function listGains(page: Pick<PageContext, 'locale' | 'say'>, sale: Sale): string[] {
  const { locale, say } = page;
  const { product } = sale;
  const access = accessGain(page, sale);
  const { accessPeriodDays, usageUnits, unitName } = product;
  const count = formatCount(locale, usageUnits ?? 0);
  const uses = unitName
    ? say('unitsNamed', { count, unit: plain(unitName) })
    : say(isOne(locale, usageUnits ?? 0) ? 'unitsOne' : 'unitsOther', { count });
  const platform = product.delivery?.provider ?? product.requiresIdentity;
  const provider = platform && PLATFORMS[platform].title;
  return [
    ...(provider ? [say(product.delivery ? 'givesPlace' : 'needsAccount', { provider })] : []),
    ...(usageUnits === null ? [] : [uses]),
    ...(access === null || product.renewalMode === 'AUTOMATIC' ? [] : [access]),
    ...(accessPeriodDays === null && usageUnits === null ? [say('forever')] : []),
  ];
}
