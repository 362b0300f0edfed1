import { z } from '@hono/zod-openapi';
import type { RouteContext } from '#platform/http/openapi.ts';

/** Answer of a file in the document. */
export const file = (type: string, description: string) => ({
  200: { description, content: { [type]: { schema: z.string().openapi({ format: 'binary' }) } } },
});

export const pdfFile = file('application/pdf', 'A4, in English');

export const sendPdf = (c: RouteContext, receiptId: string, bytes: Uint8Array) =>
  c.body(bytes as Uint8Array<ArrayBuffer>, 200, {
    'Content-Type': 'application/pdf',
    'Content-Disposition': `inline; filename="receipt-${receiptId}.pdf"`,
  });
