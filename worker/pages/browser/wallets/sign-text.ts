import type { SolanaSignInFeature, SolanaSignInInput, SolanaSignMessageFeature } from '@solana/wallet-standard-features';
import type { WalletTerms } from '../../parts/wallet-choice.ts';
import { chainOf, type Features, type OpenWallet, WalletError } from './wallets.ts';

const SIGN_IN = 'solana:signIn';
const SIGN_MESSAGE = 'solana:signMessage';
export const TO_SIGN_TEXT: Features = [SIGN_IN, SIGN_MESSAGE];

/**
 * Signs the service's text. A wallet with `solana:signIn` writes the text itself and checks its domain. If its text differs, or the feature
 * is missing, the wallet signs the service's text with `solana:signMessage`.
 */
export async function signText(open: OpenWallet, terms: WalletTerms, message: string): Promise<Uint8Array> {
  const { wallet, account } = open;
  const text = new TextEncoder().encode(message);
  if (can(open, SIGN_IN)) {
    const feature = (wallet.features as unknown as SolanaSignInFeature)[SIGN_IN];
    const [output] = await feature.signIn({ ...inputOf(message), chainId: chainOf(terms) });
    if (output && isSame(output.signedMessage, text)) return output.signature;
  }
  if (!can(open, SIGN_MESSAGE)) throw new WalletError('failed', 'another text');
  const feature = (wallet.features as unknown as SolanaSignMessageFeature)[SIGN_MESSAGE];
  const [output] = await feature.signMessage({ account, message: text });
  if (!output || !isSame(output.signedMessage, text)) throw new WalletError('failed', 'another text');
  return output.signature;
}

const can = ({ wallet, account }: OpenWallet, feature: (typeof TO_SIGN_TEXT)[number]): boolean =>
  feature in wallet.features && (account.features as readonly string[]).includes(feature);

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index]);

function inputOf(message: string): SolanaSignInInput {
  const [first = '', address, , statement] = message.split('\n');
  const lineOf = (name: string): string | undefined =>
    message
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  return {
    domain: first.split(' ')[0],
    address,
    statement,
    uri: lineOf('URI'),
    version: lineOf('Version'),
    nonce: lineOf('Nonce'),
    issuedAt: lineOf('Issued At'),
    expirationTime: lineOf('Expiration Time'),
  };
}
