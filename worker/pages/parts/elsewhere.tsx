import type { QrCode } from './qr.ts';

/** A QR code, once the browser is there to draw it. */
export function Code({ text, label, drawCode }: { text: string; label: string; drawCode?: ((text: string) => QrCode) | undefined }) {
  if (!drawCode) return null;
  const { size, path } = drawCode(text);
  return (
    <div class="qr">
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
        <path d={path} />
      </svg>
    </div>
  );
}

/** Wallets with a browser of their own open this page there, where they are found like any other. */
const BROWSERS = [
  { name: 'Phantom', base: 'https://phantom.app/ul/browse/' },
  { name: 'Solflare', base: 'https://solflare.com/ul/v1/browse/' },
];

/** Links that open a page inside a wallet. They lead over servers of the wallets' makers, so no secret belongs into the address. */
export function InWallet({
  href,
  locale,
  say,
}: {
  href: string;
  locale: string;
  say: (key: 'openIn', values: { wallet: string }) => string;
}) {
  return (
    <ul class="in-wallet">
      {BROWSERS.map(({ name, base }) => (
        <li key={name}>
          <a
            class="tonal-button"
            href={`${base}${encodeURIComponent(href)}?ref=${encodeURIComponent(new URL(href).origin)}`}
            rel="noopener"
            lang={locale}
          >
            {say('openIn', { wallet: name })}
          </a>
        </li>
      ))}
    </ul>
  );
}
