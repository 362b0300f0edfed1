export function hideBrokenPictures(): void {
  for (const image of document.querySelectorAll<HTMLImageElement>('.logo, .hero')) {
    const hide = () => {
      image.hidden = true;
    };
    if (image.complete && image.naturalWidth === 0) hide();
    image.addEventListener('error', hide);
  }
}
