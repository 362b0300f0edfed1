export interface RebuiltNamesPage {
  names_read: number;
  names_written: number;
  shared: object[];
  reserved: number;
  next: string | null;
}

/** `npm run admin -- names rebuild`: asks page by page, and prints what a person must decide. False if anything is left. */
export async function rebuildAllNames(request: (body: { after?: string }) => Promise<RebuiltNamesPage>): Promise<boolean> {
  const all = { read: 0, written: 0, shared: 0, reserved: 0 };
  for (let after: string | null = '0.'; after !== null; ) {
    const page: RebuiltNamesPage = await request({ after });
    for (const one of page.shared) console.log(`used by two accounts, it belongs to the older one: ${JSON.stringify(one)}`);
    all.read += page.names_read;
    all.written += page.names_written;
    all.shared += page.shared.length;
    all.reserved += page.reserved;
    after = page.next;
  }
  const again = all.reserved > 0 ? `; ${all.reserved} reserved by changes under way, run again` : '';
  console.log(`${all.read} names read, ${all.written} written, ${all.shared} used by two accounts${again}`);
  return all.shared === 0 && all.reserved === 0;
}

/** Writes the names of the accounts to the directory, without which the service refuses calls. */
export async function completeNames(baseUrl: string, operatorSecret: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'X-Svc-Operator-Secret': operatorSecret };
  await rebuildAllNames(async (body) => {
    const response = await fetch(`${baseUrl}/v1/operator/names/rebuild`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`names rebuild: ${response.status} ${await response.text()}`);
    return (await response.json()) as RebuiltNamesPage;
  });
}
