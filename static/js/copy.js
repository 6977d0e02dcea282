// <button data-copy="text"> or data-copy-from="#id": copies, says so in the live region, shows a tick for a moment.
addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-from]");
  if (!button) return;
  const source = button.dataset.copyFrom && document.querySelector(button.dataset.copyFrom);
  const text = source ? source.innerText : button.dataset.copy;
  const say = (message) => document.dispatchEvent(new CustomEvent("detiq:say", { detail: message }));
  try {
    await navigator.clipboard.writeText(text);
    button.dataset.copied = "";
    setTimeout(() => delete button.dataset.copied, 1500);
    say("Copied");
  } catch {
    const range = document.createRange();
    if (source) { range.selectNodeContents(source); getSelection().removeAllRanges(); getSelection().addRange(range); }
    say("The browser refused to copy; the text is selected");
  }
});
