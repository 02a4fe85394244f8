// Finds the sections (index.js) that contain all typed words. Sections with the words in their heading come first.
const input = document.getElementById('search');
const found = document.getElementById('found');
const most = 12;

function matches(words) {
  const ranked = [];
  for (const section of sections) {
    const heading = (section.page + ' ' + section.section).toLowerCase();
    const text = section.text.toLowerCase();
    if (!words.every(word => heading.includes(word) || text.includes(word))) continue;
    const inHeading = words.filter(word => heading.includes(word)).length;
    const often = words.reduce((sum, word) => sum + text.split(word).length - 1, 0);
    ranked.push({ section, rank: inHeading * 1000 + Math.min(often, 999) });
  }
  return ranked.sort((one, other) => other.rank - one.rank).slice(0, most).map(each => each.section);
}

function around(text, word) {
  const at = Math.max(text.toLowerCase().indexOf(word), 0);
  const begin = at < 60 ? 0 : text.indexOf(' ', at - 60);
  return (begin > 0 ? '… ' : '') + text.slice(begin, begin + 150);
}

function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(word => word);
  found.replaceChildren();
  found.hidden = words.length === 0;
  if (found.hidden) return;
  const sectionsFound = matches(words);
  for (const section of sectionsFound) {
    const link = document.createElement('a');
    link.href = section.file + (section.anchor ? '#' + section.anchor : '');
    link.textContent = section.section ? section.page + ': ' + section.section : section.page;
    const text = document.createElement('small');
    text.textContent = around(section.text, words[0]);
    const item = document.createElement('li');
    item.append(link, text);
    found.append(item);
  }
  if (sectionsFound.length === 0) found.append(Object.assign(document.createElement('li'), { textContent: 'Nothing found' }));
}

input.addEventListener('input', search);
