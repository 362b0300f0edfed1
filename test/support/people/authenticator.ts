import { sha256 } from '#core/crypto.ts';
import { base64url, utf8 } from '#core/encoding.ts';

/** Deviations from an honest browser and authenticator. */
export interface Lies {
  origin?: string;
  rpId?: string;
  challenge?: string;
  isUnverified?: true;
  isAbsent?: true;
  isCrossOrigin?: true;
  type?: string;
  /** Counter of the signature, instead of the next one. */
  counter?: number;
  userHandle?: string;
  isForged?: true;
}

interface Credential {
  id: string;
  keys: CryptoKeyPair;
  counter: number;
  userHandle: string;
}

interface CreationOptions {
  challenge: string;
  rp: { id: string };
  user: { id: string };
  excludeCredentials: { id: string }[];
}

const FLAGS = { present: 0x01, verified: 0x04, backupEligible: 0x08, backedUp: 0x10, attested: 0x40 };
const ES256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

const concat = (...parts: Uint8Array[]): Uint8Array<ArrayBuffer> => Uint8Array.from(parts.flatMap((part) => [...part]));

/** CBOR of the few types that an attestation has (RFC 8949). */
function cbor(value: unknown): Uint8Array {
  const head = (major: number, n: number): Uint8Array =>
    n < 24
      ? Uint8Array.of((major << 5) | n)
      : n < 256
        ? Uint8Array.of((major << 5) | 24, n)
        : Uint8Array.of((major << 5) | 25, n >> 8, n & 255);
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return concat(head(3, utf8(value).length), utf8(value));
  if (value instanceof Uint8Array) return concat(head(2, value.length), value);
  const entries = [...(value as Map<unknown, unknown>)];
  return concat(head(5, entries.length), ...entries.flatMap(([key, of]) => [cbor(key), cbor(of)]));
}

/** DER of an ECDSA signature, which WebCrypto makes as two numbers of 32 bytes. */
function der(raw: Uint8Array): Uint8Array {
  const integer = (bytes: Uint8Array): Uint8Array => {
    const from = Math.min(
      bytes.findIndex((byte) => byte !== 0),
      31,
    );
    const trimmed = bytes.slice(from);
    const body = trimmed[0]! >= 128 ? concat(Uint8Array.of(0), trimmed) : trimmed;
    return concat(Uint8Array.of(2, body.length), body);
  };
  const body = concat(integer(raw.slice(0, 32)), integer(raw.slice(32)));
  return concat(Uint8Array.of(0x30, body.length), body);
}

/**
 * Software authenticator with the browser in front of it: ES256, resident keys, attestation `none`. Does what `Lies` say instead of what the
 * standard demands.
 */
export class Authenticator {
  readonly credentials: Credential[] = [];
  readonly #origin: string;

  constructor(origin = 'https://svc.test') {
    this.#origin = origin;
  }

  #clientData(type: string, challenge: string, lies: Lies): Uint8Array<ArrayBuffer> {
    const fields = {
      type: lies.type ?? type,
      challenge: lies.challenge ?? challenge,
      origin: lies.origin ?? this.#origin,
      crossOrigin: lies.isCrossOrigin ?? false,
    };
    return Uint8Array.from(utf8(JSON.stringify(fields)));
  }

  #data(rpId: string, counter: number, lies: Lies, attested: Uint8Array = new Uint8Array()): Uint8Array {
    const flags =
      (lies.isAbsent ? 0 : FLAGS.present) |
      (lies.isUnverified ? 0 : FLAGS.verified) |
      FLAGS.backupEligible |
      FLAGS.backedUp |
      (attested.length > 0 ? FLAGS.attested : 0);
    const tail = new Uint8Array(5);
    tail[0] = flags;
    new DataView(tail.buffer).setUint32(1, counter);
    return concat(sha256(utf8(lies.rpId ?? rpId)), tail, attested);
  }

  /** `navigator.credentials.create`. Refuses if it has one of the excluded credentials, unless `again` names it. */
  async create(options: CreationOptions, lies: Lies = {}, again?: Credential) {
    const isExcluded = options.excludeCredentials.some(({ id }) => this.credentials.some((known) => known.id === id));
    if (isExcluded && !again) throw new Error('InvalidStateError');
    const keys = again?.keys ?? ((await crypto.subtle.generateKey(ES256, true, ['sign', 'verify'])) as CryptoKeyPair);
    const credential: Credential = again ?? {
      id: base64url.encode(crypto.getRandomValues(new Uint8Array(32))),
      keys,
      counter: 0,
      userHandle: options.user.id,
    };
    if (!again) this.credentials.push(credential);
    const point = new Uint8Array((await crypto.subtle.exportKey('raw', keys.publicKey)) as ArrayBuffer);
    const cose = new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, point.slice(1, 33)],
      [-3, point.slice(33)],
    ]);
    const id = base64url.decode(credential.id);
    const attested = concat(new Uint8Array(16), Uint8Array.of(id.length >> 8, id.length & 255), id, cbor(cose));
    const authData = this.#data(options.rp.id, lies.counter ?? credential.counter, lies, attested);
    const attestation = new Map<string, unknown>([
      ['fmt', lies.isForged ? 'packed' : 'none'],
      [
        'attStmt',
        new Map(
          lies.isForged
            ? ([
                ['alg', -7],
                ['sig', new Uint8Array(70)],
              ] as [string, unknown][])
            : [],
        ),
      ],
      ['authData', authData],
    ]);
    return {
      ...{ id: credential.id, rawId: credential.id, type: 'public-key', clientExtensionResults: {} },
      response: {
        clientDataJSON: base64url.encode(this.#clientData('webauthn.create', options.challenge, lies)),
        attestationObject: base64url.encode(cbor(attestation)),
        transports: ['internal', 'hybrid', 'thought'],
      },
    };
  }

  /** `navigator.credentials.get`, with the credential that the person chooses. */
  async get(
    { challenge, rpId }: { challenge: string; rpId: string },
    lies: Lies = {},
    { id, keys, ...credential }: Credential = this.credentials[0]!,
  ) {
    const counter = lies.counter ?? credential.counter;
    const authenticatorData = this.#data(rpId, counter, lies);
    const clientData = this.#clientData('webauthn.get', challenge, lies);
    const signed = concat(authenticatorData, sha256(clientData));
    const signature = new Uint8Array(await crypto.subtle.sign(ES256, keys.privateKey, signed));
    if (lies.isForged) signature[40]! ^= 1;
    return {
      ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
      response: {
        clientDataJSON: base64url.encode(clientData),
        authenticatorData: base64url.encode(authenticatorData),
        signature: base64url.encode(der(signature)),
        userHandle: lies.userHandle ?? credential.userHandle,
      },
    };
  }
}
