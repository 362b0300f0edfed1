import type { Child } from 'hono/jsx';

export const DevPage = ({ title, children }: { title: string; children: Child }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <title>{title}</title>
    </head>
    <body style="font:16px/1.5 sans-serif;max-width:720px;margin:32px auto;padding:0 16px;overflow-wrap:anywhere">
      <main>
        <h1>{title}</h1>
        {children}
      </main>
    </body>
  </html>
);
