"""What a site's robots.txt and a page's own words allow."""
