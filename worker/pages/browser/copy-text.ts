/** Copies a text. Where the browser does not let the page do so, what shows it is selected for the person to copy, and the answer is false. */
export async function copyText(text: string, shown: Element | null): Promise<boolean> {
  // Absent where the page is not trusted with it, whatever its type says.
  const isCopied = await Promise.resolve(navigator.clipboard as Clipboard | undefined)
    .then((clipboard) => clipboard?.writeText(text).then(() => true) ?? false)
    .catch(() => false);
  if (!isCopied && shown) getSelection()?.selectAllChildren(shown);
  return isCopied;
}
