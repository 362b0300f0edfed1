import type { Sale } from '../products/product.ts';
import type { PageContext } from './document.tsx';
import type { PageFacts } from './view/model.ts';
import { formatCount, formatNumber, formatPeriod, isOne, plain, plainLines } from './view/text.ts';

/** What is sold and who is paid: all that a buyer has to know, before any script has run. */
export interface Offer {
  page: PageContext;
  sale: Sale;
  facts: PageFacts;
  payoutWallet: string | null;
}

export const brandOf = ({ merchant }: Sale): string =>
  plain(merchant.merchantSettings.checkout_brand_name ?? '') || plain(merchant.displayName);

/** Checked when it was set, and once more where it becomes a link. */
const httpsUrl = (text: string | undefined): string | null => {
  const url = text === undefined ? null : URL.parse(text);
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : null;
};

export function Brand({ page, sale }: Offer) {
  const logo = httpsUrl(sale.merchant.merchantSettings.checkout_logo_url);
  const hero = httpsUrl(sale.merchant.merchantSettings.checkout_hero_image_url);
  const brand = brandOf(sale);
  const seller = plain(sale.merchant.displayName);
  return (
    <>
      <div class="brand">
        {logo ? (
          <img class="logo" src={logo} alt="" width="44" height="44" referrerpolicy="no-referrer" />
        ) : (
          <span class="letter" aria-hidden="true">
            {[...brand][0]?.toUpperCase()}
          </span>
        )}
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

export function Price({ facts, page }: Offer) {
  return (
    <div>
      <h1>
        <bdi>{facts.productName}</bdi>
      </h1>
      <p class="amount">
        <span class="hidden">{page.say('price')}: </span>
        {formatNumber(facts.locale, facts.price)}
        <span>{`\u00a0${facts.price.asset}`}</span>
      </p>
    </div>
  );
}

/** Of all that a merchant may choose freely nothing hides this: which account sells, and which wallet is paid. */
export function About({ page, sale, facts, payoutWallet }: Offer) {
  const { say } = page;
  const { product, merchant } = sale;
  const support = httpsUrl(merchant.merchantSettings.default_support_url);
  return (
    <section class="about" aria-label={say('whoIsPaid')}>
      {product.description && (
        <div>
          {plainLines(product.description).map((line) => (
            <p>{line}</p>
          ))}
        </div>
      )}
      <ul class="gets">
        {gets(page, sale).map((line) => (
          <li>{line}</li>
        ))}
      </ul>
      <div>
        <h2>{say('howItWorks')}</h2>
        <ol class="steps">
          <li>{say('step1')}</li>
          <li>{say('step2')}</li>
          <li>{say('step3')}</li>
        </ol>
      </div>
      <div>
        <h2>{say('whoIsPaid')}</h2>
        <dl class="facts">
          <div>
            <dt>{say('seller')}</dt>
            <dd>
              <bdi>{plain(merchant.displayName)}</bdi>
            </dd>
          </div>
          {payoutWallet && (
            <div>
              <dt>{say('wallet')}</dt>
              <dd class="mono">{payoutWallet}</dd>
            </div>
          )}
          <div>
            <dt>{say('network')}</dt>
            <dd>{say(facts.network)}</dd>
          </div>
        </dl>
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

function gets({ locale, say }: PageContext, { product }: Sale): string[] {
  const { accessPeriodDays, usageUnits, unitName, billingModel } = product;
  const count = formatCount(locale, usageUnits ?? 0);
  const uses = unitName
    ? say('unitsNamed', { count, unit: plain(unitName) })
    : say(isOne(locale, usageUnits ?? 0) ? 'unitsOne' : 'unitsOther', { count });
  return [
    ...(usageUnits === null ? [] : [uses]),
    ...(accessPeriodDays === null ? [] : [say('access', { period: formatPeriod(locale, accessPeriodDays, 'day') })]),
    ...(accessPeriodDays === null && usageUnits === null ? [say('forever')] : []),
    say(billingModel === 'recurring' ? 'recurring' : 'oneOff'),
  ];
}
