/**
 * The parts of WebCrypto and `node:crypto` that the service, its libraries and the people of a history use. Results are those of the
 * platform, computed at once: Node's own answer from a thread pool, in an order that no seed decides.
 * @module
 */

import * as node from 'node:crypto';
import type { Random } from './random.ts';

type Bytes = ArrayBuffer | ArrayBufferView;
type Named = string | { name: string; hash?: string | { name: string }; iv?: Bytes; additionalData?: Bytes };
type Format = 'raw' | 'pkcs8' | 'spki' | 'jwk';

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const TAG_BYTES = 16;
/** Cost of a password hash in a history. The service's own, a quarter of a second, is a defence that no rule depends on. */
const PASSWORD_COST = { N: 2, r: 8, p: 1 };

/** Key as WebCrypto hands it out. Its bytes are read through `native` only. */
class SimulatedKey {
  readonly type: 'public' | 'private' | 'secret';
  readonly algorithm: { name: string; hash?: { name: string } };
  readonly extractable: boolean;
  readonly usages: readonly string[];
  readonly native: node.KeyObject;

  constructor(native: node.KeyObject, algorithm: SimulatedKey['algorithm'], extractable: boolean, usages: readonly string[]) {
    this.native = native;
    this.type = native.type;
    this.algorithm = algorithm;
    this.extractable = extractable;
    this.usages = usages;
  }

  get [Symbol.toStringTag](): string {
    return 'CryptoKey';
  }
}

const nameOf = (algorithm: Named): string => (typeof algorithm === 'string' ? algorithm : algorithm.name);
const bufferOf = (bytes: Bytes): Buffer =>
  ArrayBuffer.isView(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.from(bytes);
const plain = (buffer: Buffer): ArrayBuffer => buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.length) as ArrayBuffer;

function hashOf(algorithm: Named): { name: string } | undefined {
  if (typeof algorithm === 'string' || algorithm.hash === undefined) return undefined;
  return typeof algorithm.hash === 'string' ? { name: algorithm.hash } : algorithm.hash;
}

const digestName = (name: string): string => name.replace('-', '').toLowerCase();
const failure = (message: string, name: string): DOMException => new DOMException(message, name);

function nativeKey(format: Format, data: Bytes | node.JsonWebKey, name: string): node.KeyObject {
  if (format === 'jwk') {
    const jwk = data as node.JsonWebKey;
    if (jwk.kty === 'oct') return node.createSecretKey(Buffer.from(jwk.k!, 'base64url'));
    return jwk.d === undefined ? node.createPublicKey({ key: jwk, format }) : node.createPrivateKey({ key: jwk, format });
  }
  const bytes = bufferOf(data as Bytes);
  if (format === 'pkcs8') return node.createPrivateKey({ key: bytes, format: 'der', type: 'pkcs8' });
  if (format === 'spki') return node.createPublicKey({ key: bytes, format: 'der', type: 'spki' });
  if (name !== 'Ed25519') return node.createSecretKey(bytes);
  if (bytes.length !== 32) throw failure('Invalid key length', 'DataError');
  return node.createPublicKey({ key: Buffer.concat([SPKI_PREFIX, bytes]), format: 'der', type: 'spki' });
}

function exported(format: Format, key: SimulatedKey): ArrayBuffer | node.JsonWebKey {
  if (!key.extractable) throw failure('key is not extractable', 'InvalidAccessError');
  if (format === 'jwk') return { ...key.native.export({ format: 'jwk' }), key_ops: [...key.usages], ext: key.extractable };
  if (format === 'pkcs8') return plain(key.native.export({ format: 'der', type: 'pkcs8' }));
  if (key.type === 'secret') return plain(key.native.export());
  const der = key.native.export({ format: 'der', type: 'spki' });
  return plain(format === 'raw' ? der.subarray(SPKI_PREFIX.length) : der);
}

function signed(key: SimulatedKey, data: Bytes): Buffer {
  if (key.algorithm.name === 'Ed25519') return node.sign(null, bufferOf(data), key.native);
  if (key.algorithm.name === 'HMAC')
    return node.createHmac(digestName(key.algorithm.hash!.name), key.native).update(bufferOf(data)).digest();
  throw failure(`sign: ${key.algorithm.name}`, 'NotSupportedError');
}

function isSigned(key: SimulatedKey, signature: Bytes, data: Bytes): boolean {
  if (key.algorithm.name === 'Ed25519') return node.verify(null, bufferOf(data), key.native, bufferOf(signature));
  const [expected, given] = [signed(key, data), bufferOf(signature)];
  return expected.length === given.length && node.timingSafeEqual(expected, given);
}

function sealed({ iv, additionalData }: Exclude<Named, string>, key: SimulatedKey, data: Bytes): Buffer {
  const cipher = node.createCipheriv(`aes-${key.native.symmetricKeySize! * 8}-gcm` as 'aes-256-gcm', key.native, bufferOf(iv!));
  if (additionalData) cipher.setAAD(bufferOf(additionalData));
  return Buffer.concat([cipher.update(bufferOf(data)), cipher.final(), cipher.getAuthTag()]);
}

function opened({ iv, additionalData }: Exclude<Named, string>, key: SimulatedKey, data: Bytes): Buffer {
  const bytes = bufferOf(data);
  const decipher = node.createDecipheriv(`aes-${key.native.symmetricKeySize! * 8}-gcm` as 'aes-256-gcm', key.native, bufferOf(iv!));
  if (additionalData) decipher.setAAD(bufferOf(additionalData));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw failure('The operation failed for an operation-specific reason', 'OperationError');
  }
}

function ed25519Pair(random: Random, extractable: boolean, usages: readonly string[]) {
  const der = Buffer.concat([PKCS8_PREFIX, random.fill(new Uint8Array(32))]);
  const secret = node.createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const of = (native: node.KeyObject, isOpen: boolean, usage: string) =>
    new SimulatedKey(native, { name: 'Ed25519' }, isOpen, usages.includes(usage) ? [usage] : []);
  return { privateKey: of(secret, extractable, 'sign'), publicKey: of(node.createPublicKey(secret), true, 'verify') };
}

function subtleOf(random: Random) {
  return {
    digest: async (algorithm: Named, data: Bytes) =>
      plain(
        node
          .createHash(digestName(nameOf(algorithm)))
          .update(bufferOf(data))
          .digest(),
      ),
    importKey: async (format: Format, data: Bytes | node.JsonWebKey, algorithm: Named, extractable: boolean, usages: string[]) => {
      const name = nameOf(algorithm);
      const hash = hashOf(algorithm);
      return new SimulatedKey(nativeKey(format, data, name), { name, ...(hash ? { hash } : {}) }, extractable, usages);
    },
    exportKey: async (format: Format, key: SimulatedKey) => exported(format, key),
    generateKey: async (algorithm: Named, extractable: boolean, usages: string[]) => {
      if (nameOf(algorithm) !== 'Ed25519') throw failure(`generateKey: ${nameOf(algorithm)}`, 'NotSupportedError');
      return ed25519Pair(random, extractable, usages);
    },
    sign: async (_: Named, key: SimulatedKey, data: Bytes) => plain(signed(key, data)),
    verify: async (_: Named, key: SimulatedKey, signature: Bytes, data: Bytes) => isSigned(key, signature, data),
    encrypt: async (algorithm: Exclude<Named, string>, key: SimulatedKey, data: Bytes) => plain(sealed(algorithm, key, data)),
    decrypt: async (algorithm: Exclude<Named, string>, key: SimulatedKey, data: Bytes) => plain(opened(algorithm, key, data)),
  };
}

/** `globalThis.crypto` of a history. */
export const webCrypto = (random: Random) => ({
  subtle: subtleOf(random),
  getRandomValues: <T extends ArrayBufferView>(view: T): T => random.fill(view),
  randomUUID: (): string => random.uuid(),
});

/** `node:crypto` of a history: the native module, but for what draws random bytes or answers from another thread. */
export const nodeCrypto = (random: () => Random) => ({
  ...node,
  randomBytes: (size: number): Buffer => Buffer.from(random().fill(new Uint8Array(size))),
  randomUUID: (): string => random().uuid(),
  scrypt: (password: Bytes, salt: Bytes, bytes: number, _: unknown, done: (error: null, key: Buffer) => void): void =>
    queueMicrotask(() => done(null, node.scryptSync(bufferOf(password), bufferOf(salt), bytes, PASSWORD_COST))),
});
