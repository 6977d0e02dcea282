from selenium import webdriver
from selenium.webdriver.common.by import By


def test_search_finds_a_title():
    driver = webdriver.Firefox()
    try:
        driver.get("https://library.example/")
        driver.find_element(By.NAME, "q").send_keys("harbour\n")
        assert "3 titles" in driver.page_source
    finally:
        driver.quit()
