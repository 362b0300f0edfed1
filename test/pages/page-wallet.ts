import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { registerWallet } from '@wallet-standard/wallet';

type Feature = 'solana:signTransaction' | 'solana:signAndSendTransaction' | 'solana:signMessage' | 'solana:signIn';

/** Wallet Standard wallet that runs in the page under the test's control. Bundled and injected by shop.ts. */
export interface WalletPlan {
  name: string;
  address: string;
  publicKey: number[];
  chains: string[];
  features: Feature[];
  /** `another_first` shares a foreign account before its own. */
  accounts: 'one' | 'none' | 'another_first';
  /** Throws synchronously instead of rejecting, and writes another sign-in text than requested. */
  isBroken: boolean;
}

const OTHER_ADDRESS = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';

declare global {
  /** Calls the test, which returns base64 or throws the wallet's error. */
  function walletActs(name: string, act: string, transaction: string): Promise<string>;
  var walletPlans: WalletPlan[];
}

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

async function act(name: string, what: string, transaction: Uint8Array): Promise<Uint8Array> {
  const answer = await walletActs(name, what, toBase64(transaction));
  if (answer.startsWith('error:')) {
    const [, code, message] = answer.split(':');
    throw Object.assign(new Error(message), { code: Number(code) });
  }
  return fromBase64(answer);
}

/** Writes the sign-in text in the order and spacing of the standard, as some wallets do. */
function writeSignIn(address: string, input: Record<string, string | undefined>): Uint8Array {
  const lines = [
    `${input.domain} wants you to sign in with your Solana account:`,
    address,
    '',
    input.statement,
    '',
    `URI: ${input.uri}`,
    `Version: ${input.version}`,
    `Chain ID: ${input.chainId}`,
    `Nonce: ${input.nonce}`,
    `Issued At: ${input.issuedAt}`,
    `Expiration Time: ${input.expirationTime}`,
  ];
  return new TextEncoder().encode(lines.join('\n'));
}

const textFeatures = (plan: WalletPlan, account: WalletAccount) => ({
  'solana:signMessage': {
    version: '1.1.0',
    signMessage: async ({ message }: { message: Uint8Array }) => [
      { signedMessage: message, signature: await act(plan.name, 'text', message) },
    ],
  },
  'solana:signIn': {
    version: '1.0.0',
    signIn: async (input: Record<string, string | undefined>) => {
      const signedMessage = writeSignIn(plan.address, plan.isBroken ? { ...input, domain: 'elsewhere.example' } : input);
      return [{ account, signedMessage, signature: await act(plan.name, 'text', signedMessage) }];
    },
  },
});

function newWallet(plan: WalletPlan): Wallet {
  const account = {
    address: plan.address,
    publicKey: Uint8Array.from(plan.publicKey),
    chains: plan.chains,
    features: plan.features,
  } as unknown as WalletAccount;
  const another = { ...account, address: OTHER_ADDRESS, publicKey: new Uint8Array(32) } as WalletAccount;
  const accounts = { one: [account], none: [], another_first: [another, account] }[plan.accounts];
  const features: Record<string, unknown> = {
    'standard:connect': {
      version: '1.0.0',
      accounts,
      // Requires `this`, as some real wallets do.
      async connect(this: { accounts: WalletAccount[] }) {
        return { accounts: this.accounts };
      },
    },
    'standard:events': { version: '1.0.0', on: () => () => {} },
  };
  for (const feature of plan.features) {
    if (feature === 'solana:signMessage' || feature === 'solana:signIn') {
      features[feature] = textFeatures(plan, account)[feature];
      continue;
    }
    const isSending = feature === 'solana:signAndSendTransaction';
    const work = (...inputs: { account: WalletAccount; transaction: Uint8Array }[]) => {
      if (plan.isBroken) throw new Error('not a function');
      return Promise.all(
        inputs.map(async ({ account: asked, transaction }) => {
          if (asked.address !== plan.address) throw new Error('not this account');
          const bytes = await act(plan.name, isSending ? 'send' : 'sign', transaction);
          return isSending ? { signature: bytes } : { signedTransaction: bytes };
        }),
      );
    };
    features[feature] = {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      [isSending ? 'signAndSendTransaction' : 'signTransaction']: work,
    };
  }
  return {
    version: '1.0.0',
    name: plan.name,
    icon: 'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCA4IDgiPjxyZWN0IHdpZHRoPSI4IiBoZWlnaHQ9IjgiIGZpbGw9IiM0YjYiLz48L3N2Zz4=',
    chains: plan.chains as Wallet['chains'],
    features: features as Wallet['features'],
    accounts,
  };
}

for (const plan of globalThis.walletPlans) registerWallet(newWallet(plan));
