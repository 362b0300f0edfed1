export async function callChain<T>(url: string, method: string, params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch((error) => {
    throw new Error(`No Solana node answers at ${url}. For the local chain, name the address that npm run dev printed, with --rpc.`, {
      cause: error,
    });
  });
  const answer = (await response.json()) as { result: T; error?: { message: string } };
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
