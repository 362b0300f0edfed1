import { SECOND } from '#core/time.ts';

export const PICTURE_BYTES_MAX = 200 * 1024;
const TIMEOUT_MS = 5 * SECOND;

/** Image, or the reason for its rejection as a text for the merchant. */
type PictureAnswer = { bytes: Uint8Array } | { problem: string };

/** Identical text for a refusal, an error status and a timeout, so that a merchant cannot probe internal services. */
const UNREAD: PictureAnswer = { problem: 'no image could be read from the URL' };

/**
 * Fetches an image from a merchant's https URL, without redirects and with a size limit. The caller validates the bytes. Never throws,
 * failures are returned as a problem.
 */
export async function fetchPicture({ leftMs }: { leftMs(): number }, url: string): Promise<PictureAnswer> {
  try {
    const signal = AbortSignal.timeout(Math.min(TIMEOUT_MS, leftMs()));
    const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'image/png, image/jpeg' } });
    if (!response.ok) {
      await response.body?.cancel();
      return UNREAD;
    }
    return await readBounded(response);
  } catch {
    return UNREAD;
  }
}

async function readBounded(response: Response): Promise<PictureAnswer> {
  const bytes = new Uint8Array(PICTURE_BYTES_MAX);
  const reader = response.body?.getReader();
  let length = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader!.read()) {
    if (length + part.value.length > PICTURE_BYTES_MAX) {
      await reader!.cancel();
      return { problem: `the file is larger than ${PICTURE_BYTES_MAX / 1024} KB` };
    }
    bytes.set(part.value, length);
    length += part.value.length;
  }
  return { bytes: bytes.slice(0, length) };
}
