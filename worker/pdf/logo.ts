import { JpegEmbedder, PDFContext, type PDFRef } from 'pdf-lib';
import { decodePng, isPng, type Pixels } from './png.ts';

export interface Logo {
  ref: PDFRef;
  width: number;
  height: number;
}

const PIXELS_MAX = 2048 * 2048;
/** Three pixels per point. */
const DRAWN = { width: 480, height: 132 };

/**
 * Embeds a PNG or JPEG. Returns null for other formats, for more than 4 million pixels and for corrupt images. The PDF then shows the
 * brand's name alone.
 */
export const embedLogo = (context: PDFContext, bytes: Uint8Array): Promise<Logo | null> =>
  isPng(bytes) ? embedPng(context, bytes) : embedJpeg(context, bytes);

export const isDrawable = async (bytes: Uint8Array): Promise<boolean> => (await embedLogo(PDFContext.create(), bytes)) !== null;

/** Embeds a JPEG unchanged, because the viewer decodes it. */
async function embedJpeg(context: PDFContext, bytes: Uint8Array): Promise<Logo | null> {
  try {
    // A copy, because the library reads the entire buffer behind a view.
    const jpeg = await JpegEmbedder.for(bytes.slice());
    if (jpeg.width * jpeg.height === 0 || jpeg.width * jpeg.height > PIXELS_MAX) return null;
    return { ref: await jpeg.embedIntoContext(context), width: jpeg.width, height: jpeg.height };
  } catch {
    return null;
  }
}

async function embedPng(context: PDFContext, bytes: Uint8Array): Promise<Logo | null> {
  const pixels = await decodePng(bytes, PIXELS_MAX);
  if (!pixels) return null;
  const { width, height, colours, alpha } = shrunk(pixels);
  const image = { Type: 'XObject', Subtype: 'Image', Width: width, Height: height, BitsPerComponent: 8 };
  const mask = alpha.every((value) => value === 255)
    ? {}
    : { SMask: context.register(context.flateStream(alpha, { ...image, ColorSpace: 'DeviceGray' })) };
  return { ref: context.register(context.flateStream(colours, { ...image, ...mask, ColorSpace: 'DeviceRGB' })), width, height };
}

/** Downscales to the drawn size, with colours and alpha apart. Each pixel is the alpha-weighted mean of its source pixels. */
function shrunk({ width: fromWidth, height: fromHeight, rgba }: Pixels) {
  const scale = Math.min(1, DRAWN.width / fromWidth, DRAWN.height / fromHeight);
  const [width, height] = [Math.max(1, Math.round(fromWidth * scale)), Math.max(1, Math.round(fromHeight * scale))];
  const colours = new Uint8Array(width * height * 3);
  const alpha = new Uint8Array(width * height);
  for (let at = 0; at < width * height; at++) {
    const [left, right] = span(at % width, width, fromWidth);
    const [top, bottom] = span(Math.floor(at / width), height, fromHeight);
    let [red, green, blue, opacity] = [0, 0, 0, 0];
    for (let y = top; y < bottom; y++) {
      for (let from = (y * fromWidth + left) * 4; from < (y * fromWidth + right) * 4; from += 4) {
        const weight = rgba[from + 3]!;
        red += rgba[from]! * weight;
        green += rgba[from + 1]! * weight;
        blue += rgba[from + 2]! * weight;
        opacity += weight;
      }
    }
    if (opacity > 0)
      colours.set(
        [red, green, blue].map((sum) => Math.round(sum / opacity)),
        at * 3,
      );
    alpha[at] = Math.round(opacity / ((right - left) * (bottom - top)));
  }
  return { width, height, colours, alpha };
}

function span(index: number, length: number, fromLength: number): [from: number, to: number] {
  const from = Math.floor((index * fromLength) / length);
  return [from, Math.max(from + 1, Math.floor(((index + 1) * fromLength) / length))];
}
