import type { Context } from 'hono';
import type { AppEnv } from '#platform/http/openapi.ts';
import { Article, MarkdownTools, sendGuide } from './guides/frame.tsx';
import { readChapters, readIndex } from './guides/read-guides.ts';

/** `GET /docs`: the first sale, a guide for each journey, and the contents of all pages. */
export async function sendDocs(c: Context<AppEnv>): Promise<Response> {
  const { ctx } = c.var;
  const [chapters, html] = await Promise.all([readChapters(ctx), readIndex(ctx)]);
  return sendGuide(
    c,
    { title: 'Overview', chapters },
    <>
      <MarkdownTools path="/docs" />
      <Article html={html} />
    </>,
  );
}
