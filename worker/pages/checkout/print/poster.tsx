import { toMoneyResource } from '#core/money.ts';
import { type Listing, saleOn } from '#features/products/product.ts';
import { firstCheckoutRail } from '#features/products/selling/checkout-rails.ts';
import type { Ctx } from '#platform/context.ts';
import { type PageContext, sendPage } from '../../document.tsx';
import { sizeOf, TestMoney } from '../../parts/parts.tsx';
import { drawCode } from '../../parts/qr.ts';
import { formatNumber, plainName } from '../../parts/text.ts';
import { brandOf } from '../listing.tsx';

const linkOf = ({ baseUrl }: Ctx, { product }: Listing): string => `${baseUrl}/p/${product.slug}`;

/** `/p/{slug}/qr`: a product's link as a printable sheet. */
export function sendPoster(page: PageContext, ctx: Ctx, listing: Listing): Response {
  const { say, locale } = page;
  const sale = saleOn(listing, firstCheckoutRail(ctx.config, listing));
  const { product, merchant } = sale;
  const link = linkOf(ctx, listing);
  const price = toMoneyResource({ asset: product.asset, units: product.priceAmount });
  const digits = formatNumber(locale, price);
  const { size, path } = drawCode(link, 'M');
  return sendPage(
    page,
    {
      title: `${say('posterTitle')} · ${plainName(product.name)}`,
      layout: 'receipt',
      accentHex: merchant.merchantSettings.checkout_accent_hex,
    },
    <main class="panel poster">
      <p>
        <bdi>{brandOf(sale)}</bdi>
      </p>
      <h1>
        <bdi>{plainName(product.name)}</bdi>
      </h1>
      <p class={sizeOf(digits)}>
        {digits}
        <span>{`\u00a0${price.asset}`}</span>
        {(ctx.config.NETWORK === 'devnet' || !product.livemode) && <TestMoney say={say} />}
      </p>
      <div class="qr">
        <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={say('posterLabel')} shape-rendering="crispEdges">
          <path d={path} />
        </svg>
      </div>
      <p>{say('posterHelp')}</p>
      <p class="mono">{link}</p>
      <p class="papers">
        <a class="plain-button" href={`/p/${product.slug}/qr.svg`} download={`${product.slug}.svg`}>
          {say('posterSave')}
        </a>
      </p>
    </main>,
  );
}

/** `/p/{slug}/qr.svg`: the code alone. Dark on white, so that it scans on any background. */
export function posterCode(ctx: Ctx, listing: Listing): string {
  const { size, path } = drawCode(linkOf(ctx, listing), 'M');
  const box = `0 0 ${size} ${size}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}"/></svg>`;
}
