import type { SolanaSignInFeature, SolanaSignInInput, SolanaSignMessageFeature } from '@solana/wallet-standard-features';
import { callApi } from '../../browser/call-api.ts';
import { callWallet, chainOf, type Features, type OpenWallet, openWallet, WalletError } from '../../browser/wallets.ts';
import type { Answer } from '../../parts/answer.ts';
import { toBase58 } from '../../parts/bytes.ts';
import type { Session } from '../../parts/session.ts';
import type { WalletTerms } from '../../parts/wallet-choice.ts';

const SIGN_IN = 'solana:signIn';
const SIGN_MESSAGE = 'solana:signMessage';
/** What a wallet that signs in has to do: one of these. */
export const TO_SIGN_IN: Features = [SIGN_IN, SIGN_MESSAGE];

interface Nonce {
  message_nonce: string;
  message: string;
}

/**
 * Signs in with a wallet: the service writes the text, the wallet shows and signs it. Throws a WalletError where the wallet does not.
 */
export async function signInWithWallet(terms: WalletTerms, walletName: string): Promise<Answer<Session>> {
  const open = await openWallet(terms, TO_SIGN_IN, walletName);
  const wallet_address = open.account.address;
  const issued = await callApi<Nonce>('POST', '/v1/auth/wallet/nonce', { body: { wallet_address } });
  if (!issued.ok) return issued;
  const { message, message_nonce } = issued.value;
  const signature = await callWallet('failed', () => signText(open, terms, message));
  return callApi<Session>('POST', '/v1/auth/wallet', { body: { wallet_address, signed_message: toBase58(signature), message_nonce } });
}

/**
 * The signature of the whole text. A wallet that knows the protocol writes the text itself and checks whom it names; where what it wrote
 * is another text, or it does not know the protocol, it is asked to sign the service's.
 */
async function signText(open: OpenWallet, terms: WalletTerms, message: string): Promise<Uint8Array> {
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

const can = ({ wallet, account }: OpenWallet, feature: (typeof TO_SIGN_IN)[number]): boolean =>
  feature in wallet.features && (account.features as readonly string[]).includes(feature);

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index]);

/** What a Sign-In With Solana text says, for a wallet that writes it itself. */
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
