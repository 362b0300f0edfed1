import type { QrCode } from './qr.ts';
import { type Amount, formatMoney, type Say } from './text.ts';

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

const BROWSERS = [
  { name: 'Phantom', base: 'https://phantom.app/ul/browse/' },
  { name: 'Solflare', base: 'https://solflare.com/ul/v1/browse/' },
];

/** Links that open a page inside a wallet. They pass servers of the wallets' makers, so the URL must carry no secret. */
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

const WALLETS = [
  { name: 'Phantom', href: 'https://phantom.com/download' },
  { name: 'Solflare', href: 'https://www.solflare.com/download/' },
  { name: 'Backpack', href: 'https://backpack.app/download' },
];

interface NewcomerProps {
  locale: string;
  price: Amount;
  onrampUrl: string | null;
  supportUrl: string | null;
  say: Say<'newTitle' | 'newWallet' | 'newMoney' | 'newCard' | 'newBack' | 'support'>;
}

const fillOnramp = (template: string, { asset, amount }: Amount, wallet = ''): string =>
  Object.entries({ wallet, asset, amount }).reduce(
    (url, [name, value]) => url.replaceAll(`{${name}}`, encodeURIComponent(value)),
    template,
  );

export function Newcomer({ locale, price, onrampUrl, supportUrl, say }: NewcomerProps) {
  return (
    <details class="newcomer">
      <summary>{say('newTitle')}</summary>
      <ol class="steps">
        <li>
          {say('newWallet')}
          <ul class="makers">
            {WALLETS.map(({ name, href }) => (
              <li key={name}>
                <a href={href} target="_blank" rel="noopener noreferrer">
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </li>
        <li>
          {say('newMoney', { price: formatMoney(locale, price), asset: price.asset })}
          {onrampUrl && (
            <>
              {' '}
              <a href={fillOnramp(onrampUrl, price)} target="_blank" rel="noopener noreferrer">
                {say('newCard', { asset: price.asset })}
              </a>
            </>
          )}
        </li>
        <li>{say('newBack')}</li>
      </ol>
      {supportUrl && (
        <a href={supportUrl} target="_blank" rel="noopener noreferrer nofollow">
          {say('support')} ({URL.parse(supportUrl)?.host})
        </a>
      )}
    </details>
  );
}

/** Field for the receipt's address. Hidden once a payment has begun, because the address is sent with it. */
export const ReceiptEmail = ({
  value,
  store,
  say,
}: {
  value: string;
  store(email: string): void;
  say: Say<'emailLabel' | 'emailHelp'>;
}) => (
  <div class="field receipt-email">
    <label for="receipt-email">{say('emailLabel')}</label>
    <input
      id="receipt-email"
      type="email"
      autocomplete="email"
      maxlength={254}
      value={value}
      aria-describedby="receipt-email-help"
      onInput={(event: Event) => store((event.target as unknown as { value: string }).value)}
    />
    <p class="quiet" id="receipt-email-help">
      {say('emailHelp')}
    </p>
  </div>
);
