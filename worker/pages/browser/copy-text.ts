/** Copies a text. If the browser refuses, selects `shown` for a manual copy and returns false. */
export async function copyText(text: string, shown: Element | null): Promise<boolean> {
  // Undefined outside a secure context, despite its type.
  const isCopied = await Promise.resolve(navigator.clipboard as Clipboard | undefined)
    .then((clipboard) => clipboard?.writeText(text).then(() => true) ?? false)
    .catch(() => false);
  if (!isCopied && shown) getSelection()?.selectAllChildren(shown);
  return isCopied;
}
